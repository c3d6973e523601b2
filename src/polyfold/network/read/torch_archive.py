"""torch.export archives: looked over before torch reads them, and read without unpickling anything.

An archive may hold more than numbers and a graph: compiled libraries, pickled objects, formulas that torch evaluates as
Python. What is not plainly a network is refused here, and torch is made to refuse whatever is no plain tensor.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polyfold.errors import NetworkError

# Behind the archive's own name. Weights and constants are read as plain tensors.
_MEMBERS = re.compile(
    r"archive_format|archive_version|byteorder|\.data/\w+|models/\w+\.json|data/sample_inputs/\w+\.pt"
    r"|data/(weights|constants)/(weight_\d+|tensor_\d+|\w+_config\.json)"
)
_OPERATIONS = re.compile(r"torch\.ops\.aten\.\w+(\.\w+)?|_operator\.\w+|math\.\w+")
_SYMBOL = re.compile(r"Symbol\('\w+'((, )?\w+=(True|False))*\)")
_FORMULA = re.compile(r"([\s\d.+*/(),-]|Integer|Rational|Float|Add|Mul|Pow|Max|Min|Mod|FloorDiv|PythonMod|CeilDiv)*")

# With this in its environment torch reads plain tensors only, whatever its own callers ask for.
PLAIN_TENSORS_ONLY = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"


@contextmanager
def plain_tensors_only() -> Iterator[None]:
    """Within it, torch raises UnpicklingError where a file asks for anything but plain tensors."""
    before = os.environ.get(PLAIN_TENSORS_ONLY)
    os.environ[PLAIN_TENSORS_ONLY] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[PLAIN_TENSORS_ONLY]
        else:
            os.environ[PLAIN_TENSORS_ONLY] = before


def check_torch_archive(path: Path, name: str) -> None:
    """Refuse an archive that holds anything but a network.

    Raises a NetworkError that names what is too much.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            for member in members:
                if not _MEMBERS.fullmatch(member.partition("/")[2]):
                    raise NetworkError(
                        f"{name!r} holds {member!r}, which is no part of a plain network: save it with "
                        "torch.export.save, by a torch of today"
                    )
            for member in members:
                if member.partition("/")[2].startswith("models/"):
                    _check_graph(json.loads(archive.read(member)), name)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, RecursionError) as error:
        raise NetworkError(f"{name!r} is no readable torch.export archive: {error}") from None


def _check_graph(graph: Any, name: str) -> None:
    for key, value in _entries(graph):
        if key == "target" and isinstance(value, str) and not _OPERATIONS.fullmatch(value):
            raise NetworkError(f"{name!r} calls {value[:80]!r}, which is no operation of a network")
        if key == "expr_str" and not _FORMULA.fullmatch(_SYMBOL.sub("", str(value))):
            raise NetworkError(f"{name!r} has a size of {str(value)[:80]!r}, which is no formula")


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Every name and its value, at any depth."""
    if isinstance(value, dict):
        yield from value.items()
        for each in value.values():
            yield from _entries(each)
    elif isinstance(value, list):
        for each in value:
            yield from _entries(each)

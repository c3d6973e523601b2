"""Uploaded torch.export archives, looked over before torch reads them.

An archive may hold more than numbers and a graph: compiled libraries, pickled objects, formulas that torch evaluates as
Python. What is not plainly a network is refused here; workers also make torch refuse whatever is no plain tensor.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
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

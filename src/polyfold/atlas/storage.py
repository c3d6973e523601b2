"""Atlases on disk: one Parquet file, one row per cell, with program, domain and certificate in its metadata.

No pickle anywhere: numbers are numbers, arrays of the header are base64 text of their float64 bytes. The header holds
the digest of all arrays, and a checksum over the header tells a file that was changed or damaged. Who writes a file can
compute both: so the level of an atlas that was opened is marked as recorded in the file, until `pf.certify` has proved
it here.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, fields
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.files import atomically, first_line
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import Certificate, Check, believed, sealed, unclaimed
from polyfold.atlas.digest import arrays_digest
from polyfold.atlas.stored_program import array_from, array_text, program_from, program_text
from polyfold.domain.domain import Domain, written_out
from polyfold.errors import PolyfoldError, StorageError

SCHEMA_VERSION = 2
# Patterns of the function's cells mean something else: who does not know that must not read them.
_OF_FUNCTION = 3
_KEY = b"polyfold"
# What a certificate says of an atlas, not of this process's memory.
_NOT_STORED = ("recorded", "arrays_digest")

# What Parquet takes as the text of a header, which it holds twice: its lengths are 32-bit numbers.
_MOST_HEADER = 2**31 - 1

# Numbers in witnesses that are written or read at once: in hundreds of coordinates all of them are gigabytes, most of
# which may be zeros.
_AT_ONCE = 1 << 22

# What reading numbers out of a file of any content can raise.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def save(atlas: Atlas, path: str | PathLike[str]) -> None:
    """Write to a temporary file beside the target and move it there at the end."""
    pa = _pyarrow()
    import pyarrow.parquet as pq

    header = _header(atlas)
    header["sha256"] = _checksum(header)
    text = json.dumps(header).encode()
    if 2 * len(text) > _MOST_HEADER:
        raise StorageError(
            f"cannot write to {os.fspath(path)!r}: the network's weights take {len(text):,} bytes as text, and a saved "
            f"atlas holds {_MOST_HEADER // 2:,} at most; save the network by itself"
        )
    columns = pa.table(_columns(pa, atlas))
    witness = pa.field("witness", pa.list_(pa.float64(), atlas.dim))
    schema = columns.schema.insert(1, witness).with_metadata({_KEY: text})
    with atomically(path) as temporary:
        try:
            with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
                for some in _parts(len(atlas), atlas.dim):
                    points = pa.array(np.ascontiguousarray(atlas.witnesses[some]).ravel())
                    points = pa.FixedSizeListArray.from_arrays(points, atlas.dim)
                    writer.write_table(columns[some].add_column(1, witness, points))
        except pa.ArrowException as error:
            raise StorageError(f"cannot write to {os.fspath(path)!r}: {first_line(error)}") from None


def open(path: str | PathLike[str]) -> Atlas:
    """Read an atlas that `Atlas.save` wrote."""
    pa = _pyarrow()
    import pyarrow.parquet as pq

    try:
        # Given a path, pyarrow would also take folders and web addresses, and read columns out of folders' names.
        with Path(path).open("rb") as file:
            stored = pq.ParquetFile(file, thrift_string_size_limit=_MOST_HEADER)
            header = _read_header(stored.schema_arrow.metadata or {}, path)
            try:
                return _atlas(header, stored)
            except (*_DAMAGE, pa.ArrowException, PolyfoldError) as error:
                raise StorageError(
                    f"{os.fspath(path)!r} is damaged: {type(error).__name__}: {first_line(error)}"
                ) from None
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"{os.fspath(path)!r} cannot be read as a saved atlas: {first_line(error)}") from None


def _parts(cells: int, dim: int) -> list[slice]:
    """All cells, so many at once; one part if there are none."""
    together = max(1, _AT_ONCE // dim)
    return [slice(first, first + together) for first in range(0, max(1, cells), together)]


def _pyarrow() -> ModuleType:
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise StorageError("saved atlases need pyarrow: pip install 'polyfold[store]'") from None
    module: ModuleType = pyarrow
    return module


# -- to a file


def _columns(pa: ModuleType, atlas: Atlas) -> dict[str, Any]:
    """All but the witnesses."""
    start = pa.array(atlas.facet_start)
    shared = np.searchsorted(atlas.shared_facet, atlas.facet_start)
    # Within a cell's row, a further wall names its facet by its number within the cell.
    owner = np.searchsorted(atlas.facet_start, atlas.shared_facet, side="right") - 1
    local = (atlas.shared_facet - atlas.facet_start[owner]).astype(np.int32)

    def ragged(offsets: Any, values: Any) -> Any:
        return pa.LargeListArray.from_arrays(offsets, pa.array(values))

    exact = np.full(len(atlas), None, dtype=object)
    for cell, witness in atlas.exact_witnesses.items():
        if 0 <= cell < len(atlas):
            exact[cell] = json.dumps([str(x) for x in witness])
    return {
        "pattern": _fixed_bytes(pa, atlas.patterns),
        "exact_witness": pa.array(exact, type=pa.string()),
        "bounded": pa.array(atlas.bounded),
        "facet_wall": ragged(start, atlas.facet_wall),
        "neighbour": ragged(start, atlas.neighbour),
        "shared_facet": ragged(pa.array(shared), local),
        "shared_wall": ragged(pa.array(shared), atlas.shared_wall),
    }


def _fixed_bytes(pa: ModuleType, patterns: npt.NDArray[np.uint8]) -> Any:
    cells, width = patterns.shape
    if not width:
        return pa.array([b""] * cells, type=pa.binary())
    data = pa.py_buffer(np.ascontiguousarray(patterns))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), cells, [None, data])


def _header(atlas: Atlas) -> dict[str, Any]:
    program, domain = atlas.program, atlas.domain
    # Digested anew: somebody may have forced an array to be written to.
    digest = arrays_digest(atlas, atlas.certificate.threads)
    certificate = believed(atlas.certificate, program.digest, domain, lambda: digest)
    stored = {
        item.name: getattr(certificate, item.name) for item in fields(certificate) if item.name not in _NOT_STORED
    }
    return {
        "version": _OF_FUNCTION if atlas.of_function else SCHEMA_VERSION,
        "cells": len(atlas),
        "program": program_text(program),
        "domain": {name: array_text(written_out(getattr(domain, name))) for name in domain.__dataclass_fields__},
        "arrays": digest,
        "certificate": stored | {"checks": [asdict(check) for check in certificate.checks]},
    }


def _checksum(header: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


# -- from a file


def _read_header(metadata: dict[bytes, bytes], path: str | PathLike[str]) -> dict[str, Any]:
    if _KEY not in metadata:
        raise StorageError(f"{os.fspath(path)!r} is a Parquet file, but not one that polyfold wrote")
    try:
        header: dict[str, Any] = json.loads(metadata[_KEY])
        version = header["version"]
    except _DAMAGE as error:
        raise StorageError(f"{os.fspath(path)!r} has a damaged header: {first_line(error)}") from None
    if version not in (SCHEMA_VERSION, _OF_FUNCTION):
        raise StorageError(
            f"{os.fspath(path)!r} has schema version {version}; this polyfold reads versions {SCHEMA_VERSION} and "
            f"{_OF_FUNCTION}: "
            "read it with the version that wrote it, or save it anew"
        )
    return header


def _atlas(header: dict[str, Any], stored: Any) -> Atlas:
    checksum = header.pop("sha256")
    text = dict(header["certificate"])
    certificate = Certificate(checks=tuple(Check(**check) for check in text.pop("checks")), **text)
    atlas = _unchecked(header, stored, unclaimed(certificate))
    if _checksum(header) != checksum or atlas.arrays_digest != header["arrays"]:
        raise ValueError("its contents do not fit their checksum")
    return atlas.with_certificate(sealed(certificate, atlas.program, header["arrays"], recorded="in the file"))


def _unchecked(header: dict[str, Any], stored: Any, certificate: Certificate) -> Atlas:
    program = program_from(header["program"])
    table = stored.read([name for name in stored.schema_arrow.names if name != "witness"], use_threads=False)
    cells = table.num_rows
    if cells != header["cells"]:
        raise ValueError(f"it should hold {header['cells']} cells and holds {cells}")
    domain = Domain(**{name: array_from(value) for name, value in header["domain"].items()})
    column = {name: table.column(name).combine_chunks() for name in table.column_names}
    start = np.array(column["facet_wall"].offsets, dtype=np.int64)
    shared_start = np.array(column["shared_wall"].offsets, dtype=np.int64)
    shared_local = np.array(column["shared_facet"].values, dtype=np.int64)
    width = (program.gates + 7) // 8
    return Atlas(
        program=program,
        domain=domain,
        patterns=_bytes_of(column["pattern"], width),
        witnesses=_witnesses(stored, cells, domain.dim),
        bounded=np.array(column["bounded"], dtype=bool),
        facet_start=start,
        facet_wall=np.array(column["facet_wall"].values, dtype=np.int32),
        neighbour=np.array(column["neighbour"].values, dtype=np.int32),
        shared_facet=shared_local + np.repeat(start[:-1], np.diff(shared_start)),
        shared_wall=np.array(column["shared_wall"].values, dtype=np.int32),
        certificate=certificate,
        exact_witnesses={
            i: tuple(Fraction(x) for x in json.loads(column["exact_witness"][i].as_py()))
            for i in np.flatnonzero(np.asarray(column["exact_witness"].is_valid())).tolist()
        },
        cells_of="function" if header["version"] == _OF_FUNCTION else "gates",
    )


def _witnesses(stored: Any, cells: int, dim: int) -> npt.NDArray[np.float64]:
    """The points (cells, dim), column by column: where there are zeros only, nothing is written, and takes no memory.

    Points of which all coordinates are used are handed out row by row, as they have always been.
    """
    columns, first, used = np.zeros((dim, cells)), 0, np.zeros(dim, dtype=bool)
    for batch in stored.iter_batches(max(1, _AT_ONCE // dim), columns=["witness"], use_threads=False):
        points = np.asarray(batch.column(0).flatten(), dtype=np.float64).reshape(len(batch), dim)
        there = points.any(axis=0)
        columns[there, first : first + len(batch)] = points[:, there].T
        first, used = first + len(batch), used | there
    if first != cells:
        raise ValueError(f"it should hold {cells} witnesses and holds {first}")
    return np.ascontiguousarray(columns.T) if used.all() else columns.T


def _bytes_of(column: Any, width: int) -> npt.NDArray[np.uint8]:
    """Patterns (cells, width) out of a column of bytes, which may begin behind others."""
    if not width or column.type.byte_width != width or column.null_count:
        return np.frombuffer(b"".join(column.to_pylist()), dtype=np.uint8).reshape(len(column), width).copy()
    first = column.offset * width
    data = np.frombuffer(column.buffers()[1], dtype=np.uint8)[first : first + len(column) * width]
    return data.reshape(len(column), width).copy()

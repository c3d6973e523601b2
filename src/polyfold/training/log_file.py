"""A file that only grows: records one after the other, each with checksums, so that a crash costs the last one at most.

After a line that says what the file is, every record is

    length of its body (8 bytes), CRC-32 of the body (4), CRC-32 of these twelve bytes (4), the body

and a body is the length of a JSON text (4 bytes), the text, and arrays in NumPy's own format (.npy), which the text
refers to by where they begin and how long they are. Numbers are little-endian. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from polyfold._base.files import first_line
from polyfold.errors import StorageError

MAGIC = b"polyfold recording, version 1\n"
_HEAD = struct.Struct("<QI")
_CHECK = struct.Struct("<I")
_TEXT = struct.Struct("<I")


@dataclass(frozen=True)
class InFile:
    """An array that stays in the file until it is asked for."""

    path: str
    offset: int
    length: int

    def read(self) -> npt.NDArray[Any]:
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                array: npt.NDArray[Any] = np.load(io.BytesIO(file.read(self.length)), allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise StorageError(f"{self.path!r} cannot be read any more: {first_line(error)}") from None
        return array


@dataclass(frozen=True)
class Record:
    """What one record says, its arrays, and where the next one begins."""

    text: dict[str, Any]
    arrays: Mapping[str, InFile]
    end: int


class LogFile:
    """A file of records that is open for writing at its end."""

    def __init__(self, file: io.FileIO, path: str) -> None:
        self._file, self._path = file, path

    def append(self, text: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write one record, at once."""
        blobs, places, offset = [], {}, 0
        for name, array in arrays.items():
            blob = io.BytesIO()
            np.save(blob, array, allow_pickle=False)
            blobs.append(blob.getvalue())
            places[name] = [offset, len(blobs[-1])]
            offset += len(blobs[-1])
        words = json.dumps({**text, "arrays": places}).encode()
        body = b"".join([_TEXT.pack(len(words)), words, *blobs])
        head = _HEAD.pack(len(body), zlib.crc32(body))
        start = self._file.tell()
        try:
            left = memoryview(head + _CHECK.pack(zlib.crc32(head)) + body)
            while left:
                left = left[self._file.write(left) :]
        except BaseException as error:
            # Full disk or Ctrl-C: the next record must not stand behind half a one.
            self._file.truncate(start)
            self._file.seek(start)
            if isinstance(error, OSError):
                raise StorageError(f"cannot write to {self._path!r}: {error.strerror or first_line(error)}") from None
            raise

    def close(self) -> None:
        self._file.close()


def create(path: str | PathLike[str]) -> LogFile:
    """A new file; one that is there is not overwritten."""
    name = os.fspath(path)
    try:
        file = io.FileIO(name, "x")
        file.write(MAGIC)
    except FileExistsError:
        raise already_there(name) from None
    except OSError as error:
        raise StorageError(f"cannot write to {name!r}: {error.strerror or first_line(error)}") from None
    return LogFile(file, name)


def already_there(name: str) -> StorageError:
    """What to say of a file that would be overwritten."""
    return StorageError(
        f"{name!r} is there already: choose another name, or say resume=True to go on behind its last snapshot"
    )


def reopen(path: str | PathLike[str], end: int) -> LogFile:
    """The file again, to go on behind the record that ends there; what a crash left behind it is cut off."""
    name = os.fspath(path)
    try:
        file = io.FileIO(name, "r+")
        file.truncate(end)
        file.seek(end)
    except OSError as error:
        raise StorageError(f"cannot write to {name!r}: {error.strerror or first_line(error)}") from None
    return LogFile(file, name)


def records(path: str | PathLike[str]) -> Iterator[Record]:
    """All whole records. One that was cut short at the end of the file is left out; any other damage is an error."""
    name = os.path.abspath(os.fspath(path))
    try:
        with open(name, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise StorageError(f"{os.fspath(path)!r} is not a recording that this version of polyfold wrote")
            size = os.fstat(file.fileno()).st_size
            while True:
                record = _next(file, name, size)
                if record is None:
                    return
                yield record
    except OSError as error:
        raise StorageError(
            f"{os.fspath(path)!r} cannot be read as a recording: {error.strerror or first_line(error)}"
        ) from None


def _next(file: BinaryIO, name: str, size: int) -> Record | None:
    head = file.read(_HEAD.size + _CHECK.size)
    if len(head) < _HEAD.size + _CHECK.size:
        return None
    length, checksum = _HEAD.unpack_from(head)
    start = file.tell()
    torn = start + length >= size
    if _CHECK.unpack_from(head, _HEAD.size)[0] != zlib.crc32(head[: _HEAD.size]):
        # A file system may write the end of a file before what lies in front of it.
        if not any(head):
            return None
        raise StorageError(f"{name!r} is damaged: a record's head does not fit its checksum, at byte {start}")
    body = file.read(min(length, size - start))
    if len(body) < length or zlib.crc32(body) != checksum:
        if torn:
            return None
        raise StorageError(f"{name!r} is damaged: a record does not fit its checksum, at byte {start}")
    (words,) = _TEXT.unpack_from(body)
    text = json.loads(body[_TEXT.size : _TEXT.size + words])
    first = start + _TEXT.size + words
    places = text.pop("arrays")
    arrays = {key: InFile(name, first + offset, long) for key, (offset, long) in places.items()}
    return Record(text, arrays, start + length)

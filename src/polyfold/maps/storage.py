"""Where maps are written: arrays in memory, or files that are mapped into memory and remember how far they are.

A folder has `maps.npy` (outputs, n, inputs + 1), `cells.npy` (n, 16), and `about.json`, which is written last and tells
what the files are of, how many inputs are done, and the largest residual. What lies behind is written again.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from polyfold._base.files import atomically
from polyfold._base.types import AnyArray
from polyfold.errors import StorageError

FORMAT = 1
MAPS, CELLS, ABOUT = "maps.npy", "cells.npy", "about.json"


@dataclass(frozen=True)
class About:
    """What maps are of, and how far they are."""

    digest: str
    shape: tuple[int, int, int]
    dtype: str
    batch: int
    done: int = 0
    residual: float = 0.0
    format: int = FORMAT


class MapStore(Protocol):
    """Where maps are written to."""

    maps: AnyArray
    cells: AnyArray
    about: About

    def keep(self, about: About) -> None:
        """Remember that so much is done."""


class InMemory:
    """Arrays that nobody keeps."""

    def __init__(self, about: About) -> None:
        self.about = about
        self.maps: AnyArray = np.empty(about.shape, dtype=about.dtype)
        self.cells: AnyArray = np.empty((about.shape[1], 16), dtype=np.uint8)

    def keep(self, about: About) -> None:
        self.about = about


class InFolder:
    """Files in a folder; those of the same network, inputs and type go on from where they are."""

    def __init__(self, folder: Path, about: About) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            known = self._known()
            if known is None:
                self._check_room(about)
                self.maps: AnyArray = np.lib.format.open_memmap(folder / MAPS, "w+", about.dtype, about.shape)
                self.cells: AnyArray = np.lib.format.open_memmap(folder / CELLS, "w+", np.uint8, (about.shape[1], 16))
                self.keep(about)
                return
            self._check_same(known, about)
            self.about = known
            self.maps = np.lib.format.open_memmap(folder / MAPS, "r+")
            self.cells = np.lib.format.open_memmap(folder / CELLS, "r+")
        except (OSError, ValueError) as error:
            raise StorageError(f"{str(folder)!r} cannot hold maps: {error}") from error
        if self.maps.shape != known.shape or self.maps.dtype != known.dtype or len(self.cells) != known.shape[1]:
            raise StorageError(f"the files in {str(folder)!r} do not fit its {ABOUT}: remove the folder")

    def keep(self, about: About) -> None:
        self.maps.flush()  # type: ignore[attr-defined]  # a memory map
        self.cells.flush()  # type: ignore[attr-defined]
        with atomically(self.folder / ABOUT) as file:
            file.write_text(json.dumps(asdict(about)), encoding="utf-8")
        self.about = about

    def _known(self) -> About | None:
        path = self.folder / ABOUT
        if not path.exists():
            if (self.folder / MAPS).exists():
                raise StorageError(f"{str(self.folder)!r} has {MAPS} but no {ABOUT}: remove the folder, or use another")
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return About(**{**found, "shape": tuple(found["shape"])})
        except (ValueError, TypeError, KeyError) as error:
            raise StorageError(f"{str(path)!r} is damaged ({error}): remove the folder, or use another") from None

    def _check_same(self, known: About, about: About) -> None:
        for name, what in (
            ("format", "was written by another version"),
            ("digest", "holds maps of another network or of other inputs"),
            ("shape", "holds maps of other outputs"),
            ("dtype", f"holds maps in {known.dtype}"),
        ):
            if getattr(known, name) != getattr(about, name):
                raise StorageError(f"{str(self.folder)!r} {what}: remove it, or use another folder")

    def _check_room(self, about: About) -> None:
        needed = int(np.prod(about.shape)) * np.dtype(about.dtype).itemsize
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise StorageError(
                f"these maps take {needed:,} bytes, but {str(self.folder)!r} has room for {free:,}: take fewer outputs "
                "or inputs, or dtype='float32'"
            )


def read_output(folder: Path, number: int) -> tuple[AnyArray, About]:
    """The rows of one of the outputs in a folder, newly mapped into memory, and what they are of."""
    try:
        found = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        about = About(**{**found, "shape": tuple(found["shape"])})
        rows: AnyArray = np.load(folder / MAPS, mmap_mode="r")[number, : about.done]
    except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
        raise StorageError(f"{str(folder)!r} holds no maps of output {number}: {error}") from None
    return rows, about

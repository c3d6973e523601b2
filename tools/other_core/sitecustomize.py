"""Take the compiled core from the folder POLYFOLD_CORE: a build with a sanitizer, or one that counts lines.

Python runs this file when it starts with its folder on PYTHONPATH, in programs that tests start as well. The Makefile's
`sanitize` and `coverage` do that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

PREFIX = "polyfold._core._"


class OtherCore(MetaPathFinder):
    """Finds the extensions of the compiled core, and nothing else, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PREFIX):
            return None
        library = next(self.folder.glob(f"{fullname.rpartition('.')[2]}.*.so"), None)
        return spec_from_file_location(fullname, library) if library else None


if "POLYFOLD_CORE" in os.environ:
    sys.meta_path.insert(0, OtherCore(Path(os.environ["POLYFOLD_CORE"])))

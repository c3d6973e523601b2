"""What the commands of studies share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from polyfold._base.files import atomically
from polyfold.errors import StorageError


def write_figure(parser: argparse.ArgumentParser, path: Path | None, picture: Callable[[], str]) -> None:
    """Write a picture where the user wants it; a place that cannot be written to is an error of the command line."""
    if path is None:
        return
    try:
        with atomically(path) as file:
            file.write_text(picture(), encoding="utf-8")
    except StorageError as error:
        parser.error(str(error))

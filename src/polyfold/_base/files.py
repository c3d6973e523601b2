"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from polyfold.errors import StorageError


@contextmanager
def atomically(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary file beside the target that takes its place if the block succeeds and vanishes if it does not."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        temporary.touch(exist_ok=False)
        try:
            yield temporary
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write to {str(target)!r}: {error.strerror or first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """What an error says, as far as it fits into a message of ours."""
    return str(error).strip().splitlines()[0] if str(error).strip() else "no reason given"

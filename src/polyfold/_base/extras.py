"""Optional packages: imported only when a model needs them, with an error that says what to install."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from polyfold.errors import NetworkError


def require(module: str, *, extra: str, purpose: str) -> Any:
    """The imported module, or a NetworkError with the pip command that provides it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NetworkError(
            f"{purpose} needs the package {module!r}, which cannot be imported ({error}): "
            f"pip install polyfold[{extra}], or make setup in a checkout"
        ) from error


def installed(module: str) -> bool:
    """Whether a package could be imported, without importing it."""
    return importlib.util.find_spec(module) is not None

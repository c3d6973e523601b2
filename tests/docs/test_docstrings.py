"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import polyfold

MODULES = ["polyfold", *(module.name for module in pkgutil.walk_packages(polyfold.__path__, "polyfold."))]
# Running it is running the command line.
MODULES.remove("polyfold.__main__")


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed

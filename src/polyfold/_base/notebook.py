"""How networks, atlases and results show themselves in a notebook: one small table, with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import fields
from html import escape
from itertools import islice
from typing import Any

import numpy as np

from polyfold.errors import how_many

# Lists and arrays of up to so many numbers are written out.
_FEW = 6
_LONGEST = 160


def html_table(facts: Mapping[str, Any], caption: str = "") -> str:
    """Names and values, a row each. A value of several lines keeps them.

    >>> html_table({"cells": 4, "a < b": "<script>"})
    '<table><tr><th>cells</th><td>4</td></tr><tr><th>a &lt; b</th><td>&lt;script&gt;</td></tr></table>'
    """
    head = f"<caption>{escape(caption)}</caption>" if caption else ""
    rows = "".join(
        f"<tr><th>{escape(str(name))}</th><td>{_cell(str(value))}</td></tr>" for name, value in facts.items()
    )
    return f"<table>{head}{rows}</table>"


class InNotebooks:
    """A dataclass that shows itself in a notebook: what it says of itself, and what its public fields hold."""

    def _repr_html_(self) -> str:
        held = {
            each.name: in_a_line(getattr(self, each.name))
            for each in fields(self)  # type: ignore[arg-type]
            if not each.name.startswith("_")
        }
        return html_table(held, in_a_line(self))


def in_a_line(value: Any) -> str:
    """A value in a line: numbers and words as they are, what is long by its size.

    >>> in_a_line(np.zeros((40, 2))), in_a_line((1, 2.5)), in_a_line(range(100)), in_a_line(None)
    ('(40, 2) of float64', '1, 2.5', '100 items', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, str):
        return _shortened(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        small = value.ndim == 1 and len(value) <= _FEW and value.dtype.kind in "biuf"
        return ", ".join(in_a_line(each) for each in value.tolist()) if small else f"{value.shape} of {value.dtype}"
    if isinstance(value, Mapping | tuple | list | range | set | frozenset):
        return _collection(value)
    describe = getattr(value, "describe", None)
    if callable(describe):
        return _shortened(str(describe()))
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__:
        return how_many(len(value), "item") if isinstance(value, Sized) else kind.__name__
    # What a dataclass writes by itself is all of its arrays.
    if not hasattr(kind.__repr__, "__wrapped__"):
        return _shortened(repr(value))
    return kind.__name__ if kind.__str__ is object.__str__ else _shortened(str(value))


def _collection(values: Any) -> str:
    count = len(values) if isinstance(values, Sized) else 0
    items: Iterable[Any] = (
        (f"{name}: {in_a_line(each)}" for name, each in values.items())
        if isinstance(values, Mapping)
        else (in_a_line(each) for each in values)
    )
    text = ", ".join(islice(items, _FEW))
    return text if count <= _FEW and 0 < len(text) <= _LONGEST else how_many(count, "item")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _cell(text: str) -> str:
    return f"<pre>{escape(text)}</pre>" if "\n" in text else escape(text)

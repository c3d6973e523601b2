"""Everything that a notebook shows is escaped, and stays short."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from polyfold._base.notebook import InNotebooks, html_table, in_a_line

HOSTILE = "<script>alert('x')</script> & \"more\""


class Reader(HTMLParser):
    """The texts and the elements of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_names_values_and_captions_are_escaped() -> None:
    read = Reader(html_table({HOSTILE: HOSTILE, "lines": f"a\n{HOSTILE}"}, HOSTILE))
    assert read.elements == {"table", "caption", "tr", "th", "td", "pre"}
    assert read.text.count(HOSTILE) == 4


@dataclass(frozen=True)
class Result(InNotebooks):
    name: str
    values: Any
    _hidden: str = "not shown"


def test_a_result_shows_its_fields() -> None:
    html = Result(HOSTILE, {HOSTILE: 1})._repr_html_()
    read = Reader(html)
    assert read.elements == {"table", "caption", "tr", "th", "td"}
    assert read.text == f"Resultname{HOSTILE}values{HOSTILE}: 1"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1 / 3, "0.333333"),
        (np.float64(2.0), "2"),
        (True, "yes"),
        (np.False_, "no"),
        ("two\n lines", "two lines"),
        ("x" * 500, "x" * 157 + "..."),
        (np.arange(3), "0, 1, 2"),
        (np.zeros((2, 3)), "(2, 3) of float64"),
        (np.zeros(100, dtype=np.int32), "(100,) of int32"),
        ((), "0 items"),
        (["one"], "one"),
        (list(range(7)), "7 items"),
        ({"a": 1.0, "b": None}, "a: 1, b: none"),
        (Result("a", 1), "Result"),
    ],
)
def test_a_value_in_a_line(value: Any, text: str) -> None:
    assert in_a_line(value) == text

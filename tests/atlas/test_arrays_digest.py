"""The digest of an atlas's arrays: other numbers, types or shapes never have the same one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyfold.atlas.digest import ARRAYS, _in_few_bytes, arrays_digest

BYTES = (1, 2, 4, 8)
ENDS = sorted(
    {end + step for size in BYTES for end in (-(2 ** (8 * size - 1)), 2 ** (8 * size - 1)) for step in (-1, 0)}
)


def digest(threads: int = 1, **arrays: npt.NDArray[Any]) -> str:
    """That of an atlas whose other arrays are empty."""
    every = dict.fromkeys(ARRAYS, np.zeros(0)) | arrays
    atlas: Any = SimpleNamespace(**every, exact_witnesses={}, of_function=False)
    return arrays_digest(atlas, threads)


@given(st.lists(st.sampled_from([0, *(end for end in ENDS if -(2**63) <= end < 2**63)]) | st.integers(-300, 300)))
def test_integers_in_few_bytes_are_the_same_numbers(numbers):
    array = np.array(numbers, dtype=np.int64)
    written = _in_few_bytes(array)
    assert written.tolist() == numbers
    if numbers:
        fits = [size for size in BYTES if all(-(2 ** (8 * size - 1)) <= n < 2 ** (8 * size - 1) for n in numbers)]
        assert written.dtype.kind == "i" and written.itemsize == fits[0]


def test_numbers_whose_bytes_are_the_same_are_told_apart():
    same_bytes = [
        np.array([-1, -1], dtype=np.int32),  # two bytes of ones
        np.array([[-1, -1]], dtype=np.int32),
        np.array([-1, -1], dtype=np.int64),
        np.array([255, 255], dtype=np.uint8),
        np.array([255, 255], dtype=np.int32),  # 255 0 255 0
        np.array([-1, 0, -1, 0], dtype=np.int32),
        np.array([255 + (255 << 16)], dtype=np.int32),
        np.array([255, 255], dtype=np.int16),
    ]
    assert len({digest(neighbour=array) for array in same_bytes}) == len(same_bytes)
    # Nor can numbers move from one array to the next.
    ones = np.ones(2, dtype=np.int32)
    assert digest(facet_wall=ones) != digest(neighbour=ones)
    assert digest(facet_wall=ones, neighbour=ones[:1]) != digest(facet_wall=ones[:1], neighbour=ones)


@pytest.mark.parametrize("numbers", [[0], [-1, 127], [-1, 128], [40_000, -2], [1 << 40], []])
def test_the_order_of_bytes_and_the_layout_do_not_matter(numbers):
    array = np.array(numbers, dtype="<i8")
    twice = np.repeat(array, 2)[::2]
    assert digest(facet_start=array) == digest(facet_start=array.astype(">i8")) == digest(facet_start=twice)


def test_pieces_make_the_digest_whatever_the_number_of_threads():
    many = {"witnesses": np.linspace(-1, 1, 2**18 + 3).reshape(-1, 1), "neighbour": np.arange(2**19, dtype=np.int32)}
    assert len({digest(threads, **many) for threads in (1, 2, 5)}) == 1
    changed = {digest(1, **many)}
    for name, array in many.items():
        for at in (0, 2**17, len(array) - 1):
            other = array.copy()
            other[at] = 1 - other[at]
            changed.add(digest(2, **many | {name: other}))
        changed.add(digest(2, **many | {name: array[:-1]}))
    assert len(changed) == 9


def test_pieces_are_made_without_threads_where_there_are_none(monkeypatch):
    array = np.arange(2**19, dtype=np.int32)
    expected = digest(2, neighbour=array)

    def refused(self: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refused)
    assert digest(2, neighbour=array) == expected

"""Arrays that numpy lets nobody write to: of every shape, type and layout, and without a copy."""

from __future__ import annotations

import numpy as np
import pytest

from polyfold._base.read_only import for_good

ARRAYS = [
    np.zeros(0, dtype=np.int32),
    np.zeros((0, 3)),
    np.zeros((4, 0), dtype=np.uint8),
    np.array(2.5),
    np.arange(3, dtype=">i4"),
    np.array([True, False]),
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(24.0).reshape(4, 6)[::2, ::-1],
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str} {array.shape}")
def test_numbers_stay_in_their_places(array):
    kept = for_good(array)
    assert (kept.dtype, kept.shape) == (array.dtype, array.shape) and np.array_equal(kept, array)
    assert not array.size or (kept.strides == array.strides and np.shares_memory(kept, array))
    assert for_good(kept) is kept


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str} {array.shape}")
def test_nobody_opens_them(array):
    kept = for_good(array)
    # Not even where the array behind is opened again.
    array.setflags(write=True)
    for each in (kept, kept[...], kept.T, kept.view(np.uint8) if kept.ndim == 1 else kept):
        assert not each.flags.writeable
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            each.setflags(write=True)

"""Arrays that nobody writes to; and what is made of them stays so when it is copied, or sent elsewhere.

numpy makes arrays that can be written to of read-only ones, in deep copies and out of pickles. And a dataclass takes
along what it remembers, its digest for one, which would go on speaking of the numbers as they were.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt


def for_good(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in the same places, as an array that numpy never lets anybody write to.

    A flag that `setflags` has taken away it also gives back, to who owns the memory. This array looks into the memory
    through a window for readers, and whatever becomes of the array behind, numpy refuses.

    >>> for_good(np.zeros(3)).setflags(write=True)
    Traceback (most recent call last):
        ...
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    array.setflags(write=False)
    if isinstance(array.base, memoryview) and array.base.readonly:
        return array
    return np.asarray(array.data.toreadonly())


class ReadOnly:
    """A dataclass of arrays that is made anew, by its fields, wherever it is copied to."""

    def __reduce__(self) -> tuple[Any, ...]:
        values = tuple(getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]
        return _made, (type(self), *values)


def _made(kind: Any, *values: Any) -> Any:
    for value in values:
        # The numbers of a sparse matrix are its data.
        array = value if isinstance(value, np.ndarray) else getattr(value, "data", None)
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return kind(*values)

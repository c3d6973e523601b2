"""Numbers of things in a row, as users give them: what is not there is an error. Of most things -1 is the last one."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from operator import index
from typing import Any

import numpy as np

from polyfold.errors import PolyfoldError, how_many


def one_of(number: Any, count: int, thing: str, owner: str) -> int:
    """The number of one of `count` things, counted from zero.

    >>> one_of(-1, 3, "cell", "the atlas")
    2
    """
    found = index(number)
    if not -count <= found < count:
        raise IndexError(f"there is no {thing} {number}: {owner} has {count}")
    return found % count


def one_output(number: Any, count: int) -> int:
    """The number of one of a network's outputs, counted from zero and in no other way.

    Outputs are names of functions rather than places in a row: what is asked about -1, True or 0.0 is a slip.

    >>> one_output(1, 3)
    1
    """
    if not isinstance(number, Integral) or isinstance(number, bool) or not 0 <= int(number) < count:
        raise PolyfoldError(
            f"there is no output {number!r}: the network has {how_many(count, 'output')}, counted from 0"
        )
    return int(number)


def some_outputs(numbers: Any, count: int) -> tuple[int, ...]:
    """The numbers of one or several outputs.

    >>> some_outputs(1, 3), some_outputs([2, 0], 3)
    ((1,), (2, 0))
    """
    several = np.iterable(numbers) and not isinstance(numbers, str)
    return tuple(one_output(number, count) for number in (numbers if several else [numbers]))


def place_of_output(number: Any, outputs: Sequence[int], things: str) -> int:
    """The place of an output among those of which there is something."""
    if not isinstance(number, Integral) or isinstance(number, bool) or int(number) not in outputs:
        raise PolyfoldError(f"there are no {things} of output {number!r}: there are those of {list(outputs)}")
    return outputs.index(int(number))

"""All cells of a ReLU network on a box by brute force over patterns: programs in floats, answers proved in integers.

It shares no code with the engine. A pattern, or what one begins with, is possible if there is a float point at which
every gate so far has its sign, exactly; it is impossible if multipliers y >= 0 make sum y_i f_i nowhere positive on the
box, exactly, where f_i are the forms that would all have to be positive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Integers = npt.NDArray[np.object_]


def whole(numbers: npt.ArrayLike) -> tuple[Integers, int]:
    """Floats as integers over one power of two, and its exponent."""
    floats = np.asarray(numbers, dtype=np.float64)
    ratios = [x.as_integer_ratio() for x in floats.ravel().tolist()]
    common = lcm(*(q for _, q in ratios), 1)
    integers = np.array([p * (common // q) for p, q in ratios], dtype=object).reshape(floats.shape)
    return integers, common.bit_length() - 1


class BoxOracle:
    """Cells of layers (W, b), relu between them, on low <= u <= high: `patterns()` has all of them."""

    def __init__(self, layers: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], low: npt.ArrayLike, high: npt.ArrayLike):
        self._layers = [(*whole(W), *whole(b)) for W, b in layers]
        ends, self._shift = whole([low, high])
        self._low, self._high = ends
        self._floats = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        self.programs = 0

    def patterns(self) -> set[tuple[bool, ...]]:
        """The patterns of all cells. Behind the last layer there are no gates."""
        dim = len(self._low)
        start = np.zeros((dim, dim + 1), dtype=object)
        start[np.arange(dim), np.arange(dim)] = 1
        return set(self._layer(0, start, 0, (), []))

    def _layer(
        self, number: int, before: Integers, exponent: int, pattern: tuple[bool, ...], rows: list[Integers]
    ) -> Iterator[tuple[bool, ...]]:
        """Go on from the values (rows over u and 1, times 2^exponent) that a layer reads."""
        if number == len(self._layers) - 1:
            yield pattern
            return
        W, by, b, bias_by = self._layers[number]
        more = max(0, bias_by - by - exponent)
        forms = W.dot(before) << more
        forms[:, -1] += b << (by + exponent + more - bias_by)
        yield from self._gates(number, forms, by + exponent + more, 0, pattern, rows)

    def _gates(
        self, number: int, forms: Integers, exponent: int, gate: int, pattern: tuple[bool, ...], rows: list[Integers]
    ) -> Iterator[tuple[bool, ...]]:
        if gate == len(forms):
            on = np.array(pattern[len(pattern) - len(forms) :], dtype=bool)
            yield from self._layer(number + 1, np.where(on[:, None], forms, 0), exponent, pattern, rows)
            return
        for side in (False, True):
            form = forms[gate] if side else -forms[gate]
            if self._largest(-form) < 0:  # positive on all of the box, so that it says nothing
                yield from self._gates(number, forms, exponent, gate + 1, (*pattern, side), rows)
            elif self._largest(form) > 0 and self._possible([*rows, form]):
                yield from self._gates(number, forms, exponent, gate + 1, (*pattern, side), [*rows, form])

    def _largest(self, form: Integers) -> int:
        """The largest value of a form on the box, times a power of two."""
        ends = np.where(form[:-1] > 0, self._high, self._low)
        return int((form[:-1] * ends).sum() + (form[-1] << self._shift))

    def _possible(self, rows: list[Integers]) -> bool:
        """Whether all forms are positive somewhere inside the box, proved."""
        self.programs += 1
        low, high = self._floats
        scales = [max(abs(x) for x in row[:-1]) for row in rows]
        A = np.array([[x / scale for x in row] for row, scale in zip(rows, scales, strict=True)], dtype=float)
        centre, half = low / 2 + high / 2, high / 2 - low / 2
        scaled = A[:, :-1] * half
        size = np.abs(scaled).max(axis=1)
        table = np.column_stack([-scaled / size[:, None], np.ones(len(rows))])
        limits = (A[:, :-1] @ centre + A[:, -1]) / size
        cost = np.append(np.zeros(len(centre)), -1.0)
        found = linprog(cost, table, limits, bounds=[(-1 + 1e-9, 1 - 1e-9)] * len(centre) + [(None, 1.0)])
        assert found.status == 0, found.message
        if self._proves_cell(rows, centre + half * found.x[:-1]):
            return True
        multipliers, _ = whole(np.maximum(-found.ineqlin.marginals, 0.0) / size)
        # Each was scaled as its row; whole numbers again, up to one common factor.
        common = lcm(*scales)
        total = sum(m * (common // s) * row for m, s, row in zip(multipliers, scales, rows, strict=True))
        assert multipliers.any() and self._largest(total) <= 0, "a program that no proof settles"
        return False

    def _proves_cell(self, rows: list[Integers], point: npt.NDArray[np.float64]) -> bool:
        low, high = self._floats
        u, shift = whole(point)
        inside = bool(((low < point) & (point < high)).all())
        return inside and all(int((row[:-1] * u).sum() + (row[-1] << shift)) > 0 for row in rows)

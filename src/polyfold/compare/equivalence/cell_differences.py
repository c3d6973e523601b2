"""By how much two networks differ on every cell of their common atlas: an affine function a cell and an output.

Floats with error bounds say where that is surely not constant. Where they cannot tell, all digits are computed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import OutOfTimeError, tick
from polyfold._base.types import Flags, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.compare.equivalence.rows import Rows
from polyfold.errors import LimitError
from polyfold.exact.digits import Digits
from polyfold.program.passes.digits import cells_at_once, fraction, maps_of

Levels = list[dict[Fraction, int]]
# Numbers that are worked with between two looks at the clock.
_FLOATS_AT_ONCE = 1 << 21


class CellMaps:
    """What is compared of the outputs of two networks side by side, over the parameters of the atlas's domain.

    `flat[i, k]`: difference k is proved to be constant on cell i; `levels[k]` maps each such constant to one of its
    cells. `values` and `errors` (n, m, d + 1) are all differences in floats: slopes, and the constant behind them.
    """

    def __init__(self, atlas: Atlas, rows: Rows) -> None:
        self.atlas, self.rows = atlas, rows
        self.outputs = len(rows)
        shape = (len(atlas), self.outputs, atlas.dim + 1)
        self.values, self.errors = np.empty(shape), np.empty(shape)
        widest = max([atlas.program.input_dim, *atlas.program.steps.widths])

        def fill(part: slice) -> None:
            found = rows.of_bounded(bounded_maps(atlas, np.arange(part.start, part.stop)))
            self.values[part], self.errors[part] = found.values, found.errors

        with np.errstate(over="ignore", invalid="ignore"):
            in_chunks(len(atlas), 12 * atlas.outputs * (widest + 1) + atlas.gates, fill, _FLOATS_AT_ONCE)
            clear: Flags = (np.abs(self.values) > self.errors) & np.isfinite(self.values)
        self.flat = np.zeros(shape[:2], dtype=bool)
        self.levels: Levels = [{} for _ in range(self.outputs)]
        self._exact = _Exactly(atlas, rows)
        unclear: Flags = ~np.any(clear[:, :, :-1], axis=2)
        doubtful = np.flatnonzero(np.any(unclear, axis=1))
        step = cells_at_once(atlas.program, atlas.domain)
        for start in range(0, len(doubtful), step):
            tick()
            self._look_at(doubtful[start : start + step])

    def _look_at(self, cells: Ids) -> None:
        slopes_vanish, levels = self._exact.constants(cells)
        self.flat[cells] = slopes_vanish
        for k, found in enumerate(levels):
            for value, cell in found.items():
                self.levels[k].setdefault(value, cell)

    @property
    def all_zero(self) -> bool:
        """Whether the networks are the same function on every cell."""
        return bool(self.flat.all()) and all(set(found) <= {Fraction(0)} for found in self.levels)


class _Exactly:
    """Maps in digits, or in rationals where numbers are too long for digits."""

    def __init__(self, atlas: Atlas, rows: Rows) -> None:
        self._atlas, self._rows = atlas, rows
        self._rationals: ExactMaps | None = None

    def constants(self, cells: Ids) -> tuple[Flags, Levels]:
        """Which differences (n, m) are constant on each cell; and for every output the constants, with a cell each."""
        if self._rationals is None:
            try:
                atlas = self._atlas
                return self._in_digits(
                    cells, self._rows.of_digits(maps_of(atlas.program, atlas.domain, atlas.signs(cells)))
                )
            except OutOfTimeError:
                raise
            except LimitError:
                self._rationals = ExactMaps(self._atlas)
        return self._in_rationals(cells, self._rationals)

    def _in_digits(self, cells: Ids, found: Digits) -> tuple[Flags, Levels]:
        rows = 1 + self._atlas.dim
        flat: Flags = ~np.any(found.nonzero.reshape(len(cells), rows, len(self._rows))[:, 1:], axis=1)
        levels: Levels = []
        for k in range(len(self._rows)):
            at = np.flatnonzero(flat[:, k])
            digits = found.digits[:, at * rows, k]
            first = np.unique(digits, axis=1, return_index=True)[1] if digits.size else range(min(1, len(at)))
            levels.append({fraction(found, int(at[i]) * rows, k): int(cells[at[i]]) for i in first})
        return flat, levels

    def _in_rationals(self, cells: Ids, maps: ExactMaps) -> tuple[Flags, Levels]:
        flat = np.zeros((len(cells), len(self._rows)), dtype=bool)
        levels: Levels = [{} for _ in range(len(self._rows))]
        for i, cell in enumerate(cells.tolist()):
            tick()
            for k in range(len(self._rows)):
                *slopes, constant = self._rows.of_rationals(maps[cell], k, self._atlas.dim + 1)
                flat[i, k] = not any(slopes)
                if flat[i, k]:
                    levels[k].setdefault(Fraction(int(constant.p), int(constant.q)), cell)
        return flat, levels

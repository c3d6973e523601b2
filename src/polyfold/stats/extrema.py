"""Where a network's output is largest or smallest, and how large that is.

An affine function on a polytope is largest at a vertex, or grows for ever along a ray. Bounds proved in floats say
which cells can hold the largest value; of these, linear programs in rationals find theirs, the most promising first,
until no other cell can have more. So the value is a rational number, and that nothing on these cells exceeds it is
proved; that these are the cells is for the atlas's certificate to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, nextafter
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import OutOfTimeError, Report, running, tick, unwatched
from polyfold._base.inputs import one_output, real_array
from polyfold._base.question import question
from polyfold._base.result import Result, answered
from polyfold._base.types import Array, ArrayLike, Flags, Ids
from polyfold.atlas.asked import cells_asked_for
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import beyond_core
from polyfold.atlas.evidence import evidence_of
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.atlas.geometry.generators import VERTEX, Generators
from polyfold.atlas.regions import merged
from polyfold.domain.domain import DomainLike
from polyfold.engine.bounds.bounded_domain import Box, place_of
from polyfold.engine.bounds.cell_bounds import ExactPrograms, closer_bound, upper_bounds
from polyfold.engine.source import SourceLike
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.linear_program import Optimum, dot
from polyfold.exact.rational import fraction, rational
from polyfold.exact.rounding import TINY, relative
from polyfold.network.scores import Of, asked_of

# Cells whose vertices are looked at together.
_TOGETHER = 1 << 11
# With more cells than this on which floats cannot tell a function from a constant, they are looked at by regions.
_FEW_FLAT_CELLS = 64


@dataclass(frozen=True, eq=False)
class Extremum(Result):
    """The largest or smallest value of a function of the outputs.

    All of this is true of the cells that the atlas lists. `evidence` says what is known of these, and only if they are
    certified is the answer `proved`.

    Attributes
    ----------
    value : float
        The value at `point`. Infinite where there is no largest or smallest one.
    point : array of float, shape (d,)
        A vertex of cell `cell`, in the domain's parameters.
    cell : int
        The cell.
    bound : Fraction or float
        Proved not to be exceeded (or undercut) anywhere: it equals `exact_value` unless a limit stopped the proof.
    exact_value, exact_point : Fraction and tuple of Fraction, or None
        Value and point without rounding. On lines and planes through networks that are too large for exact programs
        they are None, `bound` is infinite, and `value` is the best of all vertices in floats.
    ray : array of float, shape (d,), or None
        Where there is no largest or smallest value: a direction in which it grows, or falls, for ever from `point` on,
        within the cell.
    multipliers : mapping of int to Fraction
        They prove that nothing on `cell` exceeds the value: the inequalities a . u <= b of these walls (exactly as
        `pf.maps.of_pattern(network, pattern).exact_row(wall)` gives them), multiplied and added, have the function's
        slopes on the left, and on the right the value without the function's constant. For a minimum the function is
        minus the one asked about. `pf.stats.maximum(atlas, cells=[k])` has those of any other cell.
    of : str
        Whether the value is one of the model's outputs or of the scores before its head.
    """

    value: float
    point: Array
    cell: int
    bound: Fraction | float
    exact_value: Fraction | None = None
    exact_point: tuple[Fraction, ...] | None = None
    ray: Array | None = None
    multipliers: Mapping[int, Fraction] = field(default_factory=dict)
    of: str = "the model's outputs"

    @property
    def settled(self) -> bool:
        """Whether nothing exceeds (or undercuts) the value on the cells that the atlas lists. Decided exactly."""
        return self.ray is not None or self.bound == self.exact_value

    @property
    def proved(self) -> bool:
        """Whether nothing exceeds (or undercuts) the value: settled, on cells that were certified."""
        return self.settled and self.evidence.proved

    def facts(self) -> dict[str, Any]:
        multipliers = {str(wall): multiplier for wall, multiplier in self.multipliers.items()}
        return super().facts() | {"settled": self.settled, "proved": self.proved, "multipliers": multipliers}

    def __repr__(self) -> str:
        known = self.evidence.word
        how = known if self.settled else f"not proved, bound {self.bound}, cells {known}"
        end = "no end, " if self.ray is not None else ""
        of = "" if self.of == "the model's outputs" else f", of {self.of}"
        return f"Extremum: {self.value:g} in cell {self.cell} ({end}{how}){of}"


@question("stats.maximum")
def maximum(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    output: int | ArrayLike | None = None,
    cells: ArrayLike | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Extremum:
    """The largest value of an output over the domain, and where it is.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    output : int or array of float, optional
        The number of an output; or a vector of coefficients, for that combination of all outputs. May be left out if
        there is one output only.
    cells : array of int, optional
        Look at these cells only.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one.
    max_seconds : float, optional
        The limit. It ends the proof, as Ctrl-C does: `bound` may then be beyond the value.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Extremum
        The value, where it is, and a bound that is proved for the cells of the atlas.

    Examples
    --------
    >>> import polyfold as pf
    >>> hat = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
    >>> atlas = pf.unfold(hat)
    >>> pf.stats.maximum(atlas)
    Extremum: 1 in cell 1 (checked)
    >>> top = pf.stats.maximum(atlas.with_certificate(pf.certify(atlas)))
    >>> top.value, top.point.tolist(), top.proved
    (1.0, [1.0], True)
    """
    atlas = as_atlas(source, domain, threads=threads)
    return _extremum(atlas, output, cells, 1, of, "the maximum")


@question("stats.minimum")
def minimum(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    output: int | ArrayLike | None = None,
    cells: ArrayLike | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Extremum:
    """The smallest value of an output over the domain, and where it is.

    Parameters
    ----------
    source : model, Network, Program or Atlas
        What is asked about. Anything but an atlas is unfolded on the domain first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    output : int or array of float, optional
        The number of an output; or a vector of coefficients, for that combination of all outputs. May be left out if
        there is one output only.
    cells : array of int, optional
        Look at these cells only.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one.
    max_seconds : float, optional
        The limit. It ends the proof, as Ctrl-C does: `bound` may then be beyond the value.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Extremum
        The value, where it is, and a bound that is proved for the cells of the atlas.

    Examples
    --------
    >>> import polyfold as pf
    >>> falling = [([[1.0]], [0.0]), ([[-2.0]], [1.0])]
    >>> lowest = pf.stats.minimum(falling)
    >>> lowest.value, lowest.ray.tolist()
    (-inf, [1.0])
    """
    atlas = as_atlas(source, domain, threads=threads)
    return _extremum(atlas, output, cells, -1, of, "the minimum")


def _extremum(
    atlas: Atlas, output: int | ArrayLike | None, cells: ArrayLike | None, side: int, of: Of, question: str
) -> Extremum:
    words = asked_of(of, atlas.program.head, question)
    weights = side * _coefficients(atlas, output)
    ids = cells_asked_for(atlas, cells, question)
    stopped_by = None
    if beyond_core(atlas.program, atlas.domain):
        top = _by_vertices(atlas, ids, weights)
    else:
        search = _Search(atlas, ids, weights)
        top, stopped_by = search.run(), search.stopped_by
    return answered(replace(top if side > 0 else _negated(top), of=words), evidence_of(atlas), stopped_by=stopped_by)


def _coefficients(atlas: Atlas, output: int | ArrayLike | None) -> Array:
    """The function of the outputs that is asked about."""
    count = atlas.outputs
    if output is None:
        if count > 1:
            raise PolyfoldError(
                f"which of the {count} outputs? Give output=0 to {count - 1}, or {count} coefficients for a combination"
            )
        output = 0
    if isinstance(output, str) or not np.iterable(output):
        unit: Array = np.eye(count)[one_output(output, count)]
        return unit
    weights = real_array(f"output={output!r} must be the number of an output, or coefficients", output)
    if weights.shape != (count,) or not np.isfinite(weights).all():
        raise ShapeError(
            f"output={output!r} must be the number of an output, or {how_many(count, 'finite coefficient')}, one "
            "per output"
        )
    return weights


def _negated(top: Extremum) -> Extremum:
    exact = None if top.exact_value is None else -top.exact_value
    return replace(top, value=0.0 - top.value, bound=-top.bound, exact_value=exact)


class _Best(NamedTuple):
    """The largest value so far, where it is, and the program that found it, unless the function is constant there."""

    value: fmpq
    cell: int
    point: tuple[fmpq, ...]
    program: Optimum | None = None


class _Search:
    """The largest value of one function, with a proof."""

    def __init__(self, atlas: Atlas, ids: Ids, weights: Array) -> None:
        self._atlas, self._ids, self._weights = atlas, ids, weights
        self.stopped_by: str | None = None
        self._exact_weights = [rational(w) for w in weights.tolist()]
        self._maps, self._programs = ExactMaps(atlas), ExactPrograms(atlas)
        self._box: Box | None = place_of(atlas.domain).box
        self._levels: dict[int, fmpq] = {}  # of regions that are flat
        self._label: Ids | None = None

    def run(self) -> Extremum:
        try:
            order, bounds, flat = self._prepared()
        except OutOfTimeError:
            # There is time for one cell always, and nothing is known of the others.
            count = len(self._ids)
            order, bounds, flat = np.arange(count), np.full(count, inf), np.zeros(count, dtype=bool)
        with running().noting_interrupts():
            return self._climb(order, bounds, flat)

    def _prepared(self) -> tuple[Ids, Array, Flags]:
        """In which order to look at cells, what none of them exceeds, and where the function may be constant."""
        self._values, self._errors = self._functions()
        bounds, flat = self._bounds(), self._maybe_flat()
        if np.count_nonzero(flat) > _FEW_FLAT_CELLS:
            self._label = merged(self._atlas).label
        return np.argsort(-(bounds if self._box is not None else self._promise()), kind="stable"), bounds, flat

    def _climb(self, order: Ids, bounds: Array, flat: Flags) -> Extremum:
        """The best of all cells, the most promising first. Once there is one, the end of the time keeps it."""
        best: _Best | None = None
        clock = running()
        left = order
        while len(left):
            item, left = int(left[0]), left[1:]
            if best is not None:
                if not _exceeds(bounds[item], best.value):
                    bounds[item] = -inf
                    continue
                self.stopped_by = clock.stopped_by
                if self.stopped_by is not None:
                    break
                clock.tell(len(order) - len(left) - 1, len(order), "cells")
                if not flat[item]:
                    bounds[item] = min(bounds[item], self._closer(item))
                    if not _exceeds(bounds[item], best.value):
                        bounds[item] = -inf
                        continue
            cell = int(self._ids[item])
            try:
                # There is time for one cell always: without it there would be no answer.
                with unwatched() if best is None else nullcontext():
                    here = self._best_in(cell, bool(flat[item]))
            except OutOfTimeError as error:
                self.stopped_by = error.stopped_by
                break
            if isinstance(here, Extremum):
                return here
            bounds[item] = -inf
            if best is None or here.value > best.value:
                best = here
                # Nearly all cells are out at once; those that are left are compared exactly.
                bounds[bounds <= _below(best.value)] = -inf
                left = left[bounds[left] > -inf]
        assert best is not None
        with unwatched():
            return self._told(best, float(bounds.max(initial=-inf)))

    def _best_in(self, cell: int, flat: bool) -> _Best | Extremum:
        """The best of one cell; the answer itself where there is no end."""
        *slopes, constant = self._level_or_form(cell, flat)
        if not any(slopes):
            return _Best(constant, cell, self._atlas.rational_witness(cell))
        found = self._programs.largest(cell, slopes)
        assert found.point is not None
        if found.ray is not None:
            return _without_end(cell, found.point, found.ray)
        return _Best(dot(slopes, found.point) + constant, cell, found.point, found)

    def _told(self, best: _Best, most: float) -> Extremum:
        multipliers = {} if best.program is None else self._programs.proof(best.cell, best.program)
        return replace(_found(best, most), multipliers=multipliers)

    def _functions(self) -> tuple[Array, Array]:
        """The function on every cell (n, d + 1) in floats: slopes, and the constant behind them; with error bounds."""
        atlas, ids, weights = self._atlas, self._ids, self._weights
        values, errors = np.empty((len(ids), atlas.dim + 1)), np.empty((len(ids), atlas.dim + 1))
        widest = max([atlas.program.input_dim, *atlas.program.steps.widths])
        used = np.flatnonzero(weights)

        def fill(part: slice) -> None:
            found = bounded_maps(atlas, ids[part])
            some, sizes = found.values[:, used], np.abs(weights[used])
            values[part] = np.einsum("m,nmd->nd", weights[used], some)
            doubt = np.einsum("m,nmd->nd", sizes, found.errors[:, used])
            rounded = relative(len(used) + 2) * np.einsum("m,nmd->nd", sizes, np.abs(some))
            errors[part] = (doubt + rounded) * (1 + relative(2 * len(used) + 8)) + TINY

        with np.errstate(over="ignore", invalid="ignore"):
            in_chunks(len(ids), 12 * atlas.outputs * (widest + 1) + atlas.gates, fill)
        return values, errors

    def _bounds(self) -> Array:
        bounds = np.full(len(self._ids), inf)
        if self._box is not None:
            for start in range(0, len(bounds), _TOGETHER):
                tick()
                part = slice(start, start + _TOGETHER)
                values, errors = self._values[part, None], self._errors[part, None]
                bounds[part] = upper_bounds(self._atlas, self._ids[part], values, errors, self._box)[:, 0]
        return bounds

    def _maybe_flat(self) -> Flags:
        """Cells on which floats cannot tell the function from a constant."""
        slopes = self._values[:, :-1]
        clear: Flags = np.any((np.abs(slopes) > self._errors[:, :-1]) & np.isfinite(slopes), axis=1)
        return ~clear

    def _promise(self) -> Array:
        """In which order to look where there are no bounds: who seems to grow for ever first, then by vertices."""
        promise = np.empty(len(self._ids))
        for start in range(0, len(promise), _TOGETHER):
            tick()
            part = slice(start, start + _TOGETHER)
            generators = self._atlas.generators(self._ids[part])
            slopes, constants = self._values[part, :-1], self._values[part, -1]
            grows, values = _at_generators(generators, slopes, constants)
            best = np.full(len(generators), -inf)
            # What floats cannot tell is looked at first, too.
            np.maximum.at(best, generators.owner, np.where(grows | np.isnan(values), inf, values))
            promise[part] = best
        return promise

    def _closer(self, item: int) -> float:
        if self._box is None:
            return inf
        return closer_bound(self._atlas, int(self._ids[item]), self._values[item], self._errors[item], self._box.reach)

    def _level_or_form(self, cell: int, flat: bool) -> list[fmpq]:
        """The function on a cell, exactly: slopes, and the constant. A flat region is looked at once."""
        region = None if self._label is None or not flat else int(self._label[cell])
        width = self._atlas.dim + 1
        if region in self._levels:
            return [*[fmpq(0)] * (width - 1), self._levels[region]]
        numbers = self._maps[cell]
        form = [
            sum((w * numbers[k * width + j] for k, w in enumerate(self._exact_weights)), fmpq(0)) for j in range(width)
        ]
        if region is not None and not any(form[:-1]):
            self._levels[region] = form[-1]
        return form


@np.errstate(over="ignore", invalid="ignore")
def _at_generators(generators: Generators, slopes: Array, constants: Array) -> tuple[Flags, Array]:
    """Along which rays functions grow, and their values at vertices (-inf at the others)."""
    rates = np.einsum("gd,gd->g", slopes[generators.owner], generators.points)
    vertex = generators.kind == VERTEX
    grows: Flags = ~vertex & (rates > 0)
    return grows, np.where(vertex, rates + constants[generators.owner], -inf)


def _by_vertices(atlas: Atlas, ids: Ids, weights: Array) -> Extremum:
    """The largest value at a vertex, in floats. Such cells are bounded."""
    A, c = atlas.maps(ids, over="parameters")
    generators = atlas.generators(ids)
    _, values = _at_generators(generators, np.einsum("m,nmd->nd", weights, A), c @ weights)
    best = int(values.argmax())
    return Extremum(float(values[best]), generators.points[best], int(ids[generators.owner[best]]), inf)


def _exceeds(bound: float, value: fmpq) -> bool:
    return bound == inf or (bound > -inf and rational(float(bound)) > value)


def _below(value: fmpq) -> float:
    """A float that is not larger."""
    return nextafter(_float(fraction(value)), -inf)


def _found(best: _Best, left: float) -> Extremum:
    exact = fraction(best.value)
    bound: Fraction | float = exact if left == -inf else (inf if left == inf else max(exact, Fraction(left)))
    where = tuple(fraction(x) for x in best.point)
    return Extremum(_float(exact), np.array([_float(x) for x in where]), best.cell, bound, exact, where)


def _without_end(cell: int, point: tuple[fmpq, ...], ray: tuple[fmpq, ...]) -> Extremum:
    where = tuple(fraction(x) for x in point)
    longest = max(abs(fraction(x)) for x in ray)
    direction = np.array([_float(fraction(x) / longest) for x in ray])
    return Extremum(inf, np.array([_float(x) for x in where]), cell, inf, None, where, direction)


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf

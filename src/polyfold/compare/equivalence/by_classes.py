"""Whether two models choose the same class everywhere: cell by cell where one score is the largest, and where they tie.

Both networks side by side are unfolded with gates that tell which of their scores is the largest, so that each has
one class inside of every cell. That leaves the cells' borders, where scores tie and the lower class wins (or the higher
one, if a model says so). On a closed cell on which class w wins, the set where a class k that would win a tie reaches
the same score is a face of the cell. If all these faces are the same for both networks, so are the classes at all
points. A face on which they are not has a vertex that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.clock import OutOfTimeError, tick
from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.core_problem import beyond_core
from polyfold.atlas.geometry.cell_maps import ExactMaps, bounded_maps
from polyfold.compare.equivalence.by_cells import too_many_to_list
from polyfold.compare.equivalence.enclosures import exact_class
from polyfold.compare.equivalence.heads import ClassPair, Unit
from polyfold.compare.equivalence.models import Models, Part, nothing_known
from polyfold.compare.equivalence.result import Difference, Point
from polyfold.compare.equivalence.rows import Rows, Terms
from polyfold.compare.equivalence.search import Search, exactly_lifted
from polyfold.compare.equivalence.sides import Sides
from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.engine.bounds.cell_bounds import CELLS_AT_ONCE, ExactPrograms, upper_bounds
from polyfold.engine.method import as_method_takes_it
from polyfold.engine.proof.certify import certify
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, PolyfoldError, how_many
from polyfold.exact.linear_program import dot, maximise
from polyfold.program.derive.argmax import with_classes
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.derive.some_outputs import with_outputs
from polyfold.program.passes.digits import outputs_at
from polyfold.program.program import Program

# Points at which floats see different classes that are computed exactly.
_POINTS_CONFIRMED = 8


def same_classes(models: Models, pair: ClassPair, tolerance: Fraction) -> Part:
    """Compare where which of the pair's scores is the largest."""
    found = _by_points(models, pair, tolerance)
    if found is not None:
        return Part("different", found, what_differs(pair), "a point where the classes differ, computed exactly")
    return _by_cells(models, pair, tolerance)


def what_differs(pair: ClassPair) -> str:
    """What the differences of a pair are those of. An argmax puts the number of the class out."""
    return "outputs" if pair.one_hot else "the numbers of the classes"


def differences(pair: ClassPair, classes: tuple[int, int], point: Point | None = None) -> tuple[Difference, ...]:
    """How far the outputs of a pair are apart where these classes win: one entry per output.

    Classes cannot differ by more than the last and the first, and entries of a hardmax by no more than one. If the
    classes are the same it is everywhere, and there is no point.
    """
    same = Difference(Fraction(0), Fraction(0))
    one, two = classes
    if pair.one_hot:
        apart, elsewhere = Difference(Fraction(1), Fraction(1), point), Difference(Fraction(0), Fraction(1))
        places = range(len(pair.first.scores))
        return tuple(same if one == two else apart if place in classes else elsewhere for place in places)
    most = max(len(unit.scores) for unit in (pair.first, pair.second)) - 1
    return (same if one == two else Difference(Fraction(abs(one - two)), Fraction(most), point),)


def _gap(pair: ClassPair, one: int, two: int) -> int:
    """How far the outputs are apart at most where these classes win."""
    return int(one != two) if pair.one_hot else abs(one - two)


def _by_points(models: Models, pair: ClassPair, tolerance: Fraction) -> tuple[Difference, ...] | None:
    """The differences at a random point at which there is one of more than the tolerance."""
    domain = models.place.domain
    search = Search(Sides(*models.sides, Rows((), (), models.scores), models.place), tolerance)
    U = search.random_points()
    X = domain.lift(U)
    units = (pair.first, pair.second)
    one, two = (
        _float_classes(program.evaluate(X)[0], unit) for program, unit in zip(models.programs, units, strict=True)
    )
    for i in np.argsort(-np.abs(one - two), kind="stable")[:_POINTS_CONFIRMED].tolist():
        if one[i] == two[i] or not search.holds(U[i]):
            continue
        try:
            scores = [outputs_at(program, domain, U[i]) for program in models.programs]
        except OutOfTimeError:
            raise
        except LimitError:
            continue  # too long to be written down
        classes = (_class_of(pair.first, scores[0]), _class_of(pair.second, scores[1]))
        if _gap(pair, *classes) > tolerance:
            return differences(pair, classes, exactly_lifted(domain, U[i]))
    return None


def _float_classes(outputs: npt.NDArray[np.float64], unit: Unit) -> Ids:
    scores = outputs[:, list(unit.scores)]
    return np.asarray(scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1) if unit.last else scores.argmax(axis=1))


def _class_of(unit: Unit, outputs: Sequence[Fraction]) -> int:
    return exact_class([outputs[k] for k in unit.scores], unit.last)


def _by_cells(models: Models, pair: ClassPair, tolerance: Fraction) -> Part:
    """All cells of both networks with the gates of both argmaxes, and then the cells' borders."""

    def unknown(reason: str, method: str = "nothing decided it") -> Part:
        return Part("unknown", (nothing_known(),), what_differs(pair), method, None, reason)

    if too_many_to_list(*models.programs, models.place):
        return unknown("the number of dimensions: cells were not listed")
    sides = [_Side(unit, start) for unit, start in ((pair.first, 0), (pair.second, len(pair.first.scores)))]
    playing = side_by_side(*(side.playing(program) for side, program in zip(sides, models.programs, strict=True)))
    then = with_classes(playing, among=sides[0].among)
    now = with_classes(then.program, among=sides[1].among)
    domain = models.place.domain
    if not now.program.written_out and not beyond_core(now.program, domain):
        return unknown("the networks' size: cells were not listed")
    try:
        program = as_method_takes_it(now.program, domain)
        atlas = unfold_program(program, domain, max_cells=models.max_cells, threads=models.threads)
        if not atlas.complete:
            if atlas.certificate.stopped_by == "interrupt":
                raise KeyboardInterrupt
            return unknown(str(atlas.certificate.stopped_by))
        certificate = certify(atlas, threads=models.threads)
        tick()
    except OutOfTimeError as error:
        return unknown(error.stopped_by)
    except LimitError as error:
        return unknown(str(error))
    if certificate.level != "certified":
        names = "; ".join(str(check) for check in certificate.failed_checks)
        raise PolyfoldError(f"the cells of both networks could not be proved, please report this: {names}")
    signs = atlas.signs()
    places = [then.winners(signs), now.winners(signs)]
    one, two = (side.classes(winners) for side, winners in zip(sides, places, strict=True))
    cell = int(np.abs(one - two).argmax())
    classes = (int(one[cell]), int(two[cell]))
    gap = _gap(pair, *classes)
    method = f"cell by cell: {how_many(len(atlas), 'cell')} with one class each, certified"
    borders = _Borders(atlas, models.place, sides, places)
    if gap > tolerance:
        point = borders.lifted(atlas.rational_witness(cell))
        return Part("different", differences(pair, classes, point), what_differs(pair), method, certificate)
    between = "a tolerance between the classes: whether they differ by more where scores tie was not looked at"
    if gap:
        return unknown(between)
    try:
        found = borders.differ()
    except OutOfTimeError as error:
        return unknown(error.stopped_by, f"the same classes inside of all {how_many(len(atlas), 'cell')}")
    if found.point is not None:
        if _gap(pair, *found.classes) <= tolerance:
            return unknown(between)
        differ = differences(pair, found.classes, found.point)
        return Part("different", differ, what_differs(pair), f"{method}; scores tie there")
    if not found.settled:
        return unknown("inputs at which scores tie: elsewhere the classes are the same, there it is not proved")
    return Part("equal", differences(pair, (0, 0)), what_differs(pair), f"{method}, ties included", certificate)


@dataclass(frozen=True)
class _Side:
    """One of the two argmaxes: its scores in the order in which they win ties, the first of them output `start`."""

    unit: Unit
    start: int

    @property
    def among(self) -> range:
        return range(self.start, self.start + len(self.unit.scores))

    def playing(self, program: Program) -> Program:
        """The program with these scores only."""
        scores = self.unit.scores
        return with_outputs(program, scores[::-1] if self.unit.last else scores)

    def classes(self, places: Ids) -> Ids:
        """The classes of the scores at these places of the order."""
        return len(self.unit.scores) - 1 - places if self.unit.last else places


@dataclass(frozen=True)
class _Found:
    """Where the classes differ at a tie, if they do; `settled` if it is proved that they do or do not."""

    settled: bool
    point: Point | None = None
    classes: tuple[int, int] = (0, 0)


class _Borders:
    """The borders of cells on which both networks choose the same class."""

    def __init__(self, atlas: Atlas, place: BoundedDomain, sides: Sequence[_Side], places: Sequence[Ids]) -> None:
        self._atlas, self._place, self._sides, self._places = atlas, place, sides, places
        self._maps, self._programs = ExactMaps(atlas), ExactPrograms(atlas)

    def lifted(self, parameters: Sequence[fmpq]) -> Point:
        """The input of a point of parameters."""
        return tuple(Fraction(int(x.p), int(x.q)) for x in self._programs.lifted(parameters))

    def differ(self) -> _Found:
        """Look at every border on which scores may tie."""
        settled = True
        for cell, side, rival in self._candidates():
            tick()
            found = self._at_tie(cell, side, rival)
            if found.point is not None:
                return found
            settled &= found.settled
        return _Found(settled)

    def _candidates(self) -> Iterator[tuple[int, int, int]]:
        """Cells, sides, and rivals: places that would win a tie against the winner, and may come to one."""
        atlas = self._atlas
        same_order = self._sides[0].unit.last == self._sides[1].unit.last
        for number, (side, winners) in enumerate(zip(self._sides, self._places, strict=True)):
            for winner in np.unique(winners).tolist():
                cells = np.flatnonzero(winners == winner)
                for start in range(0, len(cells) if winner else 0, CELLS_AT_ONCE):
                    some = cells[start : start + CELLS_AT_ONCE]
                    reach = self._may_reach(side, some, winner)
                    for i, rival in zip(*(places.tolist() for places in np.nonzero(reach)), strict=True):
                        # Where a facet leads to the rival's cell, the tie is that facet, for both networks.
                        if not (same_order and rival in self._across(atlas, int(some[i]), winners)):
                            yield int(some[i]), number, rival

    @staticmethod
    def _across(atlas: Atlas, cell: int, winners: Ids) -> set[int]:
        neighbours = atlas.neighbour[atlas.facets(cell)]
        return set(winners[neighbours[neighbours >= 0]].tolist())

    def _may_reach(self, side: _Side, cells: Ids, winner: int) -> npt.NDArray[np.bool_]:
        """Whether each place before the winner's (n, winner) is not proved to stay below it on the closed cells."""
        if self._place.box is None:
            return np.ones((len(cells), winner), dtype=bool)
        outputs = self._atlas.outputs
        ahead: tuple[Terms, ...] = tuple(
            ((side.start + rival, 1), (side.start + winner, -1)) for rival in range(winner)
        )
        rows = Rows(ahead, ((),) * winner, (outputs, 0))
        found = rows.of_bounded(bounded_maps(self._atlas, cells))
        return upper_bounds(self._atlas, cells, found.values, found.errors, self._place.box) >= 0

    def _at_tie(self, cell: int, number: int, rival: int) -> _Found:
        """Whether the other network ties where a rival reaches the winner on a closed cell, too."""
        slopes, constant = self._lead(cell, number, rival)
        reached = self._programs.largest(cell, [-x for x in slopes])
        assert reached.value is not None and reached.point is not None
        if reached.value < constant:
            return _Found(True)  # it stays below
        differ = self._classes_differ(cell, reached.point)
        if differ.point is not None:
            return differ
        other = 1 - number
        there = self._place_of_class(other, int(self._sides[number].classes(np.array(rival))))
        if there is None or there >= int(self._places[other][cell]):
            return _Found(False)
        other_slopes, other_constant = self._lead(cell, other, there)
        A, b, _ = self._programs.inequalities(cell)
        farthest = maximise(other_slopes, [*A, slopes], [*b, -constant], start=reached.point)
        assert farthest.point is not None
        if farthest.value is not None and farthest.value + other_constant == 0:
            return _Found(True)
        differ = self._classes_differ(cell, farthest.point)
        return differ if differ.point is not None else _Found(False)

    def _place_of_class(self, number: int, label: int) -> int | None:
        side = self._sides[number]
        count = len(side.unit.scores)
        if label >= count:
            return None
        return count - 1 - label if side.unit.last else label

    def _lead(self, cell: int, number: int, rival: int) -> tuple[list[fmpq], fmpq]:
        """How far the winner is ahead of a rival on a cell: slopes and constant over the parameters."""
        side, width = self._sides[number], self._atlas.dim + 1
        numbers = self._maps[cell]
        winner = int(self._places[number][cell])
        ours, theirs = (
            numbers[(side.start + place) * width : (side.start + place + 1) * width] for place in (winner, rival)
        )
        *slopes, constant = (x - y for x, y in zip(ours, theirs, strict=True))
        return slopes, constant

    def _classes_differ(self, cell: int, parameters: Sequence[fmpq]) -> _Found:
        """The classes at a point of a closed cell, computed exactly."""
        width = self._atlas.dim + 1
        numbers = self._maps[cell]
        scores = [
            dot(numbers[k * width : (k + 1) * width - 1], parameters) + numbers[(k + 1) * width - 1]
            for k in range(self._atlas.outputs)
        ]
        # Scores stand in the order in which they win ties: the first of the largest wins.
        winners = ([scores[k] for k in side.among] for side in self._sides)
        one, two = (
            int(side.classes(np.array(some.index(max(some))))) for side, some in zip(self._sides, winners, strict=True)
        )
        return _Found(True) if one == two else _Found(True, self.lifted(parameters), (one, two))

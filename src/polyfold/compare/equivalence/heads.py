"""Two heads side by side: what has to hold of the scores for the models' outputs to be the same.

Every number that a model puts out is a unit: a score, the sigmoid of a score or of a difference of two, one entry of a
softmax, the number of a class, a constant. Units of the same kind become rows to be compared:

- a score by itself; sigmoids and their logarithms by what they read, because they are injective;
- a softmax, and its logarithm, by differences of scores: two softmaxes are the same if and only if their scores differ
  by a common shift, that is if all z_i - z_0 are the same. Over two scores it is a sigmoid of their difference;
- an argmax, and a hardmax, by where which score is the largest, which no row says.

A row that differs by D at a point makes outputs differ by at most `slope` * D:

- sigmoid 1/4, log-sigmoid 1: their derivatives are s (1 - s) and 1 - s;
- softmax: along a change d of the scores, the derivative of p_i is p_i (d_i - sum_j p_j d_j), which is at most
  p_i (1 - p_i) (max d - min d) in size, so at most a quarter of max d - min d. If no d_i - d_0 exceeds D in size, that
  is at most 2 D: the slope is 1/2;
- log-softmax: the derivative is d_i - sum_j p_j d_j, at most max d - min d: the slope is 2.

So rows that are bounded bound the outputs. The reverse does not hold: scores far apart may give nearly the same
outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from polyfold.compare.equivalence.rows import Rows, Terms
from polyfold.network.head import ELEMENTWISE, JUMPING, Head, HeadOp, OutputHead

UnitKind = Literal[
    "score", "sigmoid", "log-sigmoid", "softmax", "log-softmax", "argmax", "hardmax", "constant", "chain"
]
_SLOPES = {
    "score": Fraction(1),
    "sigmoid": Fraction(1, 4),
    "log-sigmoid": Fraction(1),
    "softmax": Fraction(1, 2),
    "log-softmax": Fraction(2),
}
# What an op gives if its groups have one number only.
_OF_ONE = {"softmax": 1, "log-softmax": 0, "argmax": 0, "hardmax": 1}
_OF_TWO: dict[str, UnitKind] = {"softmax": "sigmoid", "log-softmax": "log-sigmoid"}


@dataclass(frozen=True)
class Unit:
    """One number that a model puts out: what it is made of which scores, and which entry of its group it is.

    `ops` are those of a chain that is nothing simpler, `value` that of a constant.
    """

    kind: UnitKind
    scores: tuple[int, ...] = ()
    place: int = 0
    last: bool = False
    value: int = 0
    ops: tuple[HeadOp, ...] = ()

    @property
    def range(self) -> tuple[int, int] | None:
        """What the number lies between whatever the scores are; None if nothing is known before they are."""
        if self.kind == "constant":
            return self.value, self.value
        if self.kind == "argmax":
            return 0, len(self.scores) - 1
        return (0, 1) if self.kind in ("sigmoid", "softmax", "hardmax") else None

    @property
    def terms(self) -> Terms:
        """The score, or the difference of two, that a sigmoid reads."""
        return tuple(zip(self.scores, (1, -1), strict=False))


@dataclass(frozen=True)
class ClassPair:
    """Two argmaxes, or two hardmaxes, whose answers are compared: their scores, and who wins where scores tie."""

    first: Unit
    second: Unit

    @property
    def one_hot(self) -> bool:
        """Whether the outputs are not the class itself but a one at its place and zeros at the others."""
        return self.first.kind == "hardmax"


@dataclass(frozen=True)
class Comparison:
    """What has to be the same.

    rows      by slope: a difference of rows is at most slope times it as a difference of outputs
    enough    rows of chains of ops: the outputs are the same if these are, but perhaps also if not
    classes   pairs of argmaxes or of hardmaxes
    others    outputs of different kinds, by their numbers: only a point can show that they differ
    anyway    outputs that lie within the tolerance whatever the scores are differ by no more than this; None if none do
    """

    rows: dict[Fraction, Rows]
    enough: Rows | None
    classes: tuple[ClassPair, ...]
    others: tuple[int, ...]
    anyway: Fraction | None


def compared(
    first: Head | None, second: Head | None, scores: tuple[int, int], tolerance: Fraction = Fraction(0)
) -> Comparison:
    """What to compare of two models with so many scores and these heads; they put out equally many numbers."""
    ones, twos = _units(first, scores[0]), _units(second, scores[1])
    assert len(ones) == len(twos)
    places = _places_of_groups(ones, twos)
    rows: dict[Fraction, dict[tuple[Terms, Terms], None]] = {}
    enough: dict[tuple[Terms, Terms], None] = {}
    classes: dict[ClassPair, None] = {}
    others, anyway = [], None
    for number, (one, two) in enumerate(zip(ones, twos, strict=True)):
        whole = places[one.scores, two.scores] == len(one.scores) == len(two.scores)
        apart = _farthest_apart(one, two)
        if apart is not None and apart <= tolerance:
            anyway = max(anyway or Fraction(0), apart)
        elif one.kind != two.kind:
            others.append(number)
        elif one.kind in ("score", "sigmoid", "log-sigmoid"):
            _add(rows.setdefault(_SLOPES[one.kind], {}), one.terms, two.terms)
        elif one.kind in ("softmax", "log-softmax") and whole and one.place == two.place:
            for k in range(1, len(one.scores)):
                pair = (((unit.scores[k], 1), (unit.scores[0], -1)) for unit in (one, two))
                _add(rows.setdefault(_SLOPES[one.kind], {}), *pair)
        elif one.kind == "argmax" or (one.kind == "hardmax" and whole and one.place == two.place):
            classes[ClassPair(_without_place(one), _without_place(two))] = None
        elif one.kind == "chain" and one.ops == two.ops and one.place == two.place:
            for pair_of_scores in zip(one.scores, two.scores, strict=True):
                _add(enough, *(((score, 1),) for score in pair_of_scores))
        else:
            others.append(number)
    return Comparison(
        {slope: _rows(pairs, scores) for slope, pairs in rows.items()},
        _rows(enough, scores) if enough else None,
        tuple(classes),
        tuple(others),
        anyway,
    )


def _farthest_apart(one: Unit, two: Unit) -> Fraction | None:
    """What two numbers can differ by at most, if both lie in known ranges."""
    if one.range is None or two.range is None:
        return None
    return Fraction(max(one.range[1] - two.range[0], two.range[1] - one.range[0]))


def shifted_rows(pair: ClassPair, scores: tuple[int, int]) -> Rows | None:
    """Rows that are zero if both networks' scores of a pair differ by a common shift; None if they do not match."""
    one, two = pair.first, pair.second
    if len(one.scores) != len(two.scores) or one.last != two.last:
        return None
    differences = [
        tuple(((unit.scores[k], 1), (unit.scores[0], -1)) for k in range(1, len(unit.scores))) for unit in (one, two)
    ]
    return Rows(differences[0], differences[1], scores)


def _add(rows: dict[tuple[Terms, Terms], None], one: Terms, two: Terms) -> None:
    """Keep a row, unless it or its negative is there."""
    negative = tuple(sorted((k, -sign) for k, sign in one)), tuple(sorted((k, -sign) for k, sign in two))
    pair = tuple(sorted(one)), tuple(sorted(two))
    if negative not in rows:
        rows[pair] = None


def _rows(pairs: dict[tuple[Terms, Terms], None], scores: tuple[int, int]) -> Rows:
    return Rows(tuple(one for one, _ in pairs), tuple(two for _, two in pairs), scores)


def _without_place(unit: Unit) -> Unit:
    return Unit(unit.kind, unit.scores, last=unit.last)


def _places_of_groups(ones: Sequence[Unit], twos: Sequence[Unit]) -> dict[tuple[tuple[int, ...], tuple[int, ...]], int]:
    """For every two groups, how many entries they have at the same place and in the same number of both outputs."""
    counts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    for one, two in zip(ones, twos, strict=True):
        key = (one.scores, two.scores)
        counts[key] = counts.get(key, 0) + (one.kind == two.kind and one.place == two.place)
    return counts


def _units(head: Head | None, scores: int) -> list[Unit]:
    if head is None:
        return [Unit("score", (k,)) for k in range(scores)]
    found: list[Unit] = []
    start = 0
    for output in head.outputs:
        found += _units_of(output, start)
        start += output.scores
    return found


def _units_of(output: OutputHead, start: int) -> list[Unit]:
    ops = simplified(output.ops)
    if not ops:
        return [Unit("score", (start + k,)) for k in range(output.scores)]
    if len(ops) > 1:
        scores = tuple(range(start, start + output.scores))
        return [Unit("chain", scores, place, ops=ops) for place in range(output.outputs)]
    (op,) = ops
    if op.kind in ELEMENTWISE:
        return [Unit(op.kind, (start + k,)) for k in range(output.scores)]
    if op.groups[1] == 1:
        return [Unit("constant", value=_OF_ONE[op.kind])] * op.gives
    groups = [tuple(start + int(k) for k in group) for group in op.members]
    if op.kind == "argmax":
        return [Unit("argmax", group, last=op.last) for group in groups]
    units: dict[int, Unit] = {}
    for group in groups:
        for place, score in enumerate(group):
            if len(group) == 2 and op.kind in _OF_TWO:
                units[score] = Unit(_OF_TWO[op.kind], (score, group[1 - place]))
            else:
                units[score] = Unit(op.kind, group, place, op.last)
    return [units[score] for score in sorted(units)]


def simplified(ops: Sequence[HeadOp]) -> tuple[HeadOp, ...]:
    """The same function by fewer ops: what keeps the order of scores changes no largest one.

    >>> softmax, argmax = HeadOp("softmax", (1, 3, 1)), HeadOp("argmax", (1, 3, 1))
    >>> [op.kind for op in simplified((softmax, argmax))]
    ['argmax']
    """
    found: list[HeadOp] = []
    for op in ops:
        while found and _absorbed(found[-1], op):
            found.pop()
        if found and found[-1].kind == "hardmax" and op.kind in JUMPING and found[-1].groups == op.groups:
            # Of a hardmax's numbers one is the largest.
            op = HeadOp(op.kind, op.groups, found.pop().last, op.name)
        found.append(op)
    return tuple(found)


def _absorbed(before: HeadOp, op: HeadOp) -> bool:
    """Whether an op gives the same without the one before it."""
    if op.kind in JUMPING and before.kind in ELEMENTWISE:
        return True
    alike = before.kind in ("softmax", "log-softmax") and before.groups == op.groups and op.groups[1] > 1
    return alike and (op.kind in JUMPING or (before.kind == "log-softmax" and op.kind in ("softmax", "log-softmax")))

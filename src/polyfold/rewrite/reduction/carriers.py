"""Who computes the linear part that a plan leaves: the readers themselves, nobody, or as few gates as can do it.

If no gate of the stage is left, or if the readers read the stage's sources anyway, the linear part goes into their
weights. If turning gates round makes it vanish (flips.py), nobody need. Else it takes gates. A linear part of rank r
takes r gates on a bounded domain, with biases that keep them active, and 2 r in any case, or r opposites of gates that
stay and span it; gates that are always active can also stay themselves, as many as are independent. Where sources are
bounded on one side only, as outputs of ReLUs are, r gates will do if enough of the functions that are made of the
linear part's are bounded below (paper 004's examples 2 and 3: what can be merged and what cannot).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.types import Array
from polyfold.exact.linear_algebra import rank_at_least
from polyfold.exact.linear_program import maximise
from polyfold.exact.rational import rational
from polyfold.exact.rational_arrays import Rationals, filled, identity, matrix, product, rationals, zeros
from polyfold.program.exact_program import ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.passes.bounded_layers import Range
from polyfold.rewrite.reduction.draft import Change, Draft, Known
from polyfold.rewrite.reduction.flips import turned_round
from polyfold.rewrite.reduction.plans import Plan, uniform_slopes
from polyfold.rewrite.reduction.result import Step
from polyfold.rewrite.reduction.straight_part import LinearPart, folded

# Ranges of the network's inputs and of all earlier stages' outputs.
SourceRanges = Callable[[], list[Range]]
_ZERO = fmpq(0)
# Numbers in an exact linear program that is solved in a moment.
_MOST_ENTRIES = 20_000


def changes(
    draft: Draft, stage: int, plan: Plan, ranges: SourceRanges, *, skips: bool, carry: bool
) -> list[tuple[Change, list[Step]]]:
    """All ways to carry a plan out, with the steps that say so; without `carry` only those that need no gates."""
    added = plan.affine()
    known = draft.known[stage]
    if not any(rows.terms for rows in added.values()) or not plan.kept or skips or _read_anyway(draft, stage, added):
        steps = [*plan.steps, *(folded(plan, known, gate) for gate in plan.straight)]
        return [(_change(plan, known, added), steps)]
    if not carry:
        return []
    found = []
    if plan.straight and not _joined_opposites(plan):
        found += _independent(plan, known)
    part = LinearPart(plan, added)
    return [*found, *turned_round(known, part), *_carried(plan, known, part, ranges)]


def _read_anyway(draft: Draft, stage: int, added: dict[int, RationalRows]) -> bool:
    """Whether every reader that gets a linear part already reads all that it is made of."""
    affines = draft.program.affines
    return all(set(rows.terms) <= set(affines[reader].terms) for reader, rows in added.items())


def _joined_opposites(plan: Plan) -> bool:
    straight = set(plan.straight)
    others = [gate for gate in range(plan.stage.width) if gate not in straight]
    return any(bool(coefficients[:, others].any()) for coefficients in plan.linear.values())


def _change(plan: Plan, known: Sequence[Known], added: dict[int, RationalRows]) -> Change:
    kept = np.array(plan.kept, dtype=np.int64)
    columns = {reader: V[:, kept] for reader, V in plan.columns.items()}
    return Change(plan.stage.take(kept), tuple(known[gate] for gate in plan.kept), columns, added)


def _independent(plan: Plan, known: Sequence[Known]) -> list[tuple[Change, list[Step]]]:
    """As many of the gates that are always active as are independent stay, and take over what the others did."""
    gates, straight = plan.stage, plan.straight
    rows = np.concatenate([*(term[straight] for term in gates.rows.terms.values())], axis=1)
    if rank_at_least(rows) == len(straight):
        return []  # all would stay
    stay, shares = independent_rows(rows)
    kept = sorted([*plan.kept, *(straight[k] for k in stay)])
    columns = {reader: V.copy() for reader, V in plan.columns.items()}
    added = {}
    slopes = [(gates.slope_on if known[gate].side > 0 else gates.slope_off)[gate] for gate in straight]
    # pre-activation k = shares[k] . those that stay + offset[k]
    bias = gates.rows.bias[straight]
    offset = bias - product(shares, bias[stay])
    for reader in plan.readers:
        on_z = plan.linear[reader][:, straight]
        on_stay = product(on_z, shares)
        for position, k in enumerate(stay):
            columns[reader][:, straight[k]] = on_stay[:, position] / slopes[k]
        added[reader] = RationalRows({}, plan.constants[reader] + product(on_z, offset))
    names = tuple(plan.name(straight[k]) for k in stay)
    steps = [*plan.steps, *(folded(plan, known, gate, names) for k, gate in enumerate(straight) if k not in stay)]
    index = np.array(kept, dtype=np.int64)
    change = Change(
        gates.take(index),
        tuple(known[gate] for gate in kept),
        {reader: V[:, index] for reader, V in columns.items()},
        added,
    )
    return [(change, steps)]


def _carried(
    plan: Plan, known: Sequence[Known], part: LinearPart, ranges: SourceRanges
) -> list[tuple[Change, list[Step]]]:
    """New gates compute the linear part, as few as will do."""
    spare = plan.stage.width - len(plan.kept)
    if rank_at_least(part.rows) >= spare:
        return []  # no fewer than there were
    stay, shares = independent_rows(part.rows)
    low, high = (np.concatenate([ranges()[source][end] for source in part.sources]) for end in (0, 1))
    active = bounded_below(part.rows[stay], low, high)
    ways = [_opposites(part), _both_signs(part, stay, shares)] if active is None else [_active(part, active, shares)]
    carriers = min((way for way in ways if way is not None), key=lambda way: way.rows.size)
    return [] if carriers.rows.size >= spare else [_with_carriers(plan, known, part, carriers)]


@dataclass(frozen=True, eq=False)
class _Carriers:
    """New gates, and how all linear functions are read from them and from gates that stay.

    Function k is columns[k] . (new gates' outputs) + on_kept[k] . (kept gates' outputs) + constants[k].
    """

    rows: RationalRows
    columns: Rationals
    on_kept: Rationals
    constants: Rationals
    slope_on: Rationals
    slope_off: Rationals
    known: Known


def _active(part: LinearPart, active: BoundedBelow, shares: Rationals) -> _Carriers:
    """Gates with biases that keep them active."""
    on, off = uniform_slopes(part.plan.stage)
    bias = rationals([_at_least(-value) for value in active.least])
    back = product(shares, active.back)
    known = Known(1, "its bias exceeds what interval arithmetic says of the rest")
    nothing = zeros(len(back), len(part.plan.kept))
    slope_on, slope_off = (filled([slope] * len(bias), bias.shape) for slope in (on, off))
    rows, constants = part.apart(active.rows, bias), -product(back, bias)
    return _Carriers(rows, back / on, nothing, constants, slope_on, slope_off, known)


def _both_signs(part: LinearPart, stay: list[int], shares: Rationals) -> _Carriers:
    """Two gates a function, of which always one is active."""
    on, off = uniform_slopes(part.plan.stage)
    E, share = part.rows[stay], shares / (on + off)
    rows = part.apart(np.concatenate([E, -E]), zeros(2 * len(E)))
    nothing = zeros(len(share), len(part.plan.kept))
    slope_on, slope_off = (filled([slope] * rows.size, (rows.size,)) for slope in (on, off))
    columns = np.concatenate([share, -share], axis=1)
    return _Carriers(rows, columns, nothing, zeros(len(share)), slope_on, slope_off, Known())


def _opposites(part: LinearPart) -> _Carriers | None:
    """Opposites of gates that stay: z = (gate(z) - gate(-z)) / (on + off)."""
    plan = part.plan
    on, off = plan.stage.slope_on, plan.stage.slope_off
    used = [k for k, gate in enumerate(plan.kept) if on[gate] + off[gate]]
    kept = part.side_by_side(plan.stage.rows.take(np.array([plan.kept[k] for k in used], dtype=np.int64)))
    stay, shares = independent_rows(np.concatenate([kept, part.rows]))
    if any(k >= len(used) for k in stay):
        return None  # the gates that stay do not span it
    needed = [k for k in range(len(stay)) if shares[len(used) :, k].any()]
    places = [used[stay[k]] for k in needed]
    gates = [plan.kept[place] for place in places]
    opposite = plan.stage.rows.take(np.array(gates, dtype=np.int64)).scaled(np.full(len(gates), -1.0))
    back = shares[len(used) :][:, needed]
    share = back / (on + off)[gates]
    on_kept = zeros(len(back), len(plan.kept))
    on_kept[:, places] = share
    constants = -product(back, plan.stage.rows.bias[gates])
    return _Carriers(opposite, -share, on_kept, constants, on[gates], off[gates], Known())


def _with_carriers(
    plan: Plan, known: Sequence[Known], part: LinearPart, carriers: _Carriers
) -> tuple[Change, list[Step]]:
    """The stage with carriers behind the gates that stay, under names of gates that went."""
    count = carriers.rows.size
    # Names of gates that were always active suit best: so are most carriers.
    gone = [*plan.straight, *(g for g in range(plan.stage.width) if g not in plan.kept and g not in plan.straight)]
    origins = tuple(plan.stage.origins[gate] for gate in gone[:count])
    columns, constants, first = {}, {}, 0
    for reader, rows in part.added.items():
        own = slice(first, first + rows.size)
        first += rows.size
        on_kept = plan.columns[reader][:, plan.kept] + carriers.on_kept[own]
        columns[reader] = np.concatenate([on_kept, carriers.columns[own]], axis=1)
        constants[reader] = RationalRows({}, rows.bias + carriers.constants[own])
    kept = plan.stage.take(plan.kept)
    gates = ExactStage(
        RationalRows.stacked([kept.rows, carriers.rows]),
        np.concatenate([kept.slope_on, carriers.slope_on]),
        np.concatenate([kept.slope_off, carriers.slope_off]),
        (*kept.origins, *origins),
    )
    names = tuple(str(origin) for origin in origins)
    steps = [step for step in plan.steps if step.neuron not in names]
    steps += [folded(plan, known, gate, names) for gate in plan.straight if plan.name(gate) not in names]
    facts = (*(known[gate] for gate in plan.kept), *(carriers.known,) * count)
    return Change(gates, facts, columns, constants), steps


def independent_rows(rows: Rationals) -> tuple[list[int], Rationals]:
    """Rows that are independent and span the others, and all rows as combinations of them: rows = shares @ rows[stay].

    >>> independent_rows(rationals([[1, 0], [2, 0], [1, 1]]))
    ([0, 2], array([[1, 0],
           [2, 0],
           [0, 1]], dtype=object))
    """
    if not rows.size:
        return [], zeros(len(rows), 0)
    # The pivots of the transposed matrix are the first independent rows; its reduced columns are the combinations.
    reduced, rank = matrix(rows.T).rref()
    table = filled(reduced.entries(), rows.T.shape)[:rank]
    stay = [int(np.flatnonzero([bool(value) for value in row])[0]) for row in table]
    return stay, table.T.copy()


@dataclass(frozen=True, eq=False)
class BoundedBelow:
    """Functions that are bounded below, by `least`, and the given ones as combinations of them: E = back @ rows."""

    rows: Rationals
    back: Rationals
    least: tuple[fmpq, ...]


def bounded_below(E: Rationals, low: Array, high: Array) -> BoundedBelow | None:
    """Independent combinations of independent rows that are bounded below on a box, if as many exist; else None.

    A row is bounded below if it is not negative where the box has no upper end and not positive where it has no lower
    one. Combinations that are form a cone; if it has an inside, a point there and its neighbours are enough.

    >>> quadrant = np.zeros(2), np.full(2, np.inf)
    >>> bounded_below(rationals([[1, -1]]), *quadrant) is None
    True
    >>> bounded_below(rationals([[1, -1], [-1, 2]]), *quadrant).rows.tolist() != []
    True
    """
    up, down = np.flatnonzero(np.isinf(high)), np.flatnonzero(np.isinf(low))
    must = [row for row in np.concatenate([E.T[up], -E.T[down]]).tolist() if any(row)]
    rank = len(E)
    mixing = identity(rank)
    if any(value < 0 for row in must for value in row):
        if (rank + 1) * len(must) > _MOST_ENTRIES:
            return None
        inside = _inside(must, rank)
        if inside is None:
            return None
        mixing = _around(inside, must)
    rows = product(mixing, E)
    return BoundedBelow(rows, filled(matrix(mixing).inv().entries(), mixing.shape), tuple(_least(rows, low, high)))


def _inside(must: list[list[fmpq]], rank: int) -> list[fmpq] | None:
    """Some c with row . c > 0 for all rows."""
    A = [[*(-value for value in row), fmpq(1)] for row in must] + [[_ZERO] * rank + [fmpq(1)]]
    b = [_ZERO] * len(must) + [fmpq(1)]
    best = maximise([_ZERO] * rank + [fmpq(1)], A, b, start=[_ZERO] * (rank + 1))
    assert best.point is not None
    return list(best.point[:rank]) if best.point[rank] > 0 else None


def _around(inside: list[fmpq], must: list[list[fmpq]]) -> Rationals:
    """Independent points of the cone that have few digits, as does the inverse of the matrix that they are the rows of.

    With c inside, and c_i = 1 or -1, the rows c and N c + e_k (k other than i) do: their determinant is c_i.
    """
    largest = max(range(len(inside)), key=lambda k: abs(inside[k]))
    digits = fmpq(1)
    while True:
        digits *= 2
        c = [fmpq((value / abs(inside[largest]) * digits).round()) / digits for value in inside]
        points: Rationals = identity(len(inside)) + rationals([digits * value for value in c])[None, :]
        points[largest] = rationals(c)
        if all(sum((a * x for a, x in zip(row, p, strict=True)), _ZERO) >= 0 for row in must for p in points.tolist()):
            return points


def _least(rows: Rationals, low: Array, high: Array) -> list[fmpq]:
    """The least values of linear functions on a box; nothing is rounded."""
    least, most = ([rational(x) if np.isfinite(x) else _ZERO for x in end.tolist()] for end in (low, high))
    return [sum((w * (least[k] if w > 0 else most[k]) for k, w in enumerate(row) if w), _ZERO) for row in rows.tolist()]


def _at_least(value: fmpq) -> fmpq:
    """A number with few digits that is no less, and not negative."""
    if value <= 0:
        return _ZERO
    power = fmpq(1)
    while power < value:
        power *= 2
    while power / 2 >= value:
        power /= 2
    step = power / 256
    steps = -int((-(value / step)).floor())
    return step * steps

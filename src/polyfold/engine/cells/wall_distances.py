"""How far inputs are from the next wall, without ever holding all gates' rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.clock import OutOfTimeError, running, tick
from polyfold._base.types import Array, Ids, Signs
from polyfold.domain.domain import resolve_domain
from polyfold.engine.cells.signs_at import SpecialGates
from polyfold.errors import LimitError
from polyfold.exact.rational import as_float, rational, square_root
from polyfold.exact.rounding import FAR_FROM_OVERFLOW, FAR_FROM_UNDERFLOW, TINY, relative
from polyfold.program.passes.held import pushed
from polyfold.program.passes.pulled_back import gate_forms, majorant, roundings
from polyfold.program.passes.single_gates import GateForm, TooMuchError, exact_gates, is_cheap
from polyfold.program.program import Program

# Floats that are worked with at once: between such parts one can stop.
_FLOATS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class WallDistances:
    """For each input the Euclidean distance to the nearest wall and the gate it belongs to.

    Infinity and -1 if there is no wall at all; NaN and -1 if a time limit came first, which `stopped_by` then names.
    """

    distance: Array
    gate: Ids
    stopped_by: str | None = None

    def __len__(self) -> int:
        return len(self.distance)


@dataclass(frozen=True, eq=False)
class NearestWall:
    """A gate and its name, the distance to its wall, and the nearest point of the wall."""

    gate: int
    name: str
    distance: float
    point: Array


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def distances_to_walls(
    program: Program,
    X: Array,
    signs: Signs,
    special: Sequence[SpecialGates],
    memory: int,
) -> WallDistances:
    """The nearest wall of each input, given its pattern and the gates that are special there.

    The clock that is running, or an interrupt, leaves out the last inputs.
    """
    clock = running()
    distance, gate = np.full(len(X), np.nan), np.full(len(X), -1, dtype=np.int64)
    stopped_by = None
    try:
        with clock.noting_interrupts():
            for i in range(len(X)):
                clock.check()
                distance[i], gate[i] = _to_the_nearest(program, X[i : i + 1], signs[i], special[i], memory)
                clock.tell(i + 1, len(X), "inputs")
    except OutOfTimeError as error:
        stopped_by = error.stopped_by
    return WallDistances(distance, gate, stopped_by)


def _to_the_nearest(program: Program, x: Array, signs: Signs, special: SpecialGates, memory: int) -> tuple[float, int]:
    """The distance of one input to its nearest wall, and the gate that it is the wall of; -1 if there is none."""
    if len(special.on_wall):
        return 0.0, int(special.on_wall[0])
    squares = np.zeros(program.gates)
    for part in _squares(program, signs, memory):
        squares += part
        tick()
    *values, _ = pushed(program, signs[None], x)
    size = np.abs(np.concatenate([np.zeros(0), *(z[0] for z in values)]))
    flat = [special.vanishing, _noise(program, signs[None], special.undecided, memory)]
    squares[np.concatenate(flat)] = 0.0
    lengths = np.where(squares > 0, size / np.sqrt(squares), np.inf)
    for gate in np.setdiff1d(np.flatnonzero(_beyond_floats(program, squares, size)), np.concatenate(flat)):
        tick()
        lengths[gate] = _exact_wall(program, signs, int(gate)).distance(x[0])
    nearest = float(lengths.min(initial=np.inf))
    return nearest, int(lengths.argmin()) if np.isfinite(nearest) else -1


def nearest_wall(program: Program, x: Array, signs: Signs, distance: float, gate: int) -> NearestWall:
    """The wall of a gate, seen from an input."""
    if gate < 0:
        return NearestWall(-1, "no wall", distance, np.full(len(x), np.nan))
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = gate_forms(program, signs[None, :], np.array([gate]))
        square, value = np.einsum("ij,ij->i", a, a), a @ x + b
        # Without a length the wall is where the input is.
        foot = x - (value / square if square[0] else 0.0) * a[0]
    # An input near the end of floats may have a step that is no float, though the wall is within reach.
    if _beyond_floats(program, square, value)[0] or not np.isfinite(foot).all():
        foot = _exact_wall(program, signs, gate).foot(x)
    return NearestWall(gate, str(program.origins[gate]), distance, foot)


def _beyond_floats(program: Program, squares: Array, values: Array) -> Signs:
    """Which gates' squared lengths and values floats may have lost, given what they make of them."""
    lost: Signs = ~((squares > FAR_FROM_UNDERFLOW) & (squares < FAR_FROM_OVERFLOW) & np.isfinite(values))
    if not is_cheap(program, program.input_dim) or program.number_range.holds(2):
        # Squares do not underflow, or not all of many: zeros are right.
        lost &= squares != 0
    elif not program.number_range.holds():
        lost[:] = True
    return lost


@dataclass(frozen=True)
class _ExactWall:
    """A gate's form under a pattern in rationals: its constant, and its slopes."""

    form: GateForm

    def distance(self, x: Array) -> float:
        square = self._square
        return square_root(self._value(x) ** 2 / square) if square else np.inf

    def foot(self, x: Array) -> Array:
        """The nearest point of the wall."""
        step = self._value(x) / self._square
        return np.array([as_float(rational(p) - step * a) for p, a in zip(x.tolist(), self._slopes, strict=True)])

    @property
    def _slopes(self) -> tuple[fmpq, ...]:
        return self.form.coefficients[1:]

    @property
    def _square(self) -> fmpq:
        return sum((a * a for a in self._slopes), fmpq(0))

    def _value(self, x: Array) -> fmpq:
        return self.form.at(map(rational, x.tolist()))


def _exact_wall(program: Program, signs: Signs, gate: int) -> _ExactWall:
    try:
        (form,) = exact_gates(program, resolve_domain(None, program.input_dim)).forms(gate, signs[None])
    except TooMuchError:
        raise LimitError(
            f"floats cannot hold what the distance to gate {gate} ({program.origins[gate]}) is made of, and the "
            "network is too large for it to be computed in rational numbers: rescale its layers"
        ) from None
    return _ExactWall(form)


def _noise(program: Program, signs: Signs, undecided: Ids, memory: int) -> Ids:
    """Undecided gates whose slopes are nothing but rounding errors: they have no wall that could be near."""
    widest = max([program.input_dim, *(stage.width for stage in program.stages)])
    if not len(undecided) or len(undecided) * widest * 32 > memory:
        return undecided[:0]
    patterns = np.broadcast_to(signs, (len(undecided), program.gates))
    a, _ = gate_forms(program, patterns, undecided)
    size, _ = gate_forms(majorant(program), patterns, undecided)
    return undecided[(np.abs(a) <= relative(roundings(program)) * size + TINY).all(axis=1)]


def _squares(program: Program, signs: Signs, memory: int) -> Iterator[Array]:
    """Parts of the sums of squares of every gate's slopes: they add up to the squared lengths of its row.

    Input directions are pushed forward or gates pulled back: whichever are fewer.
    """
    inputs, gates, floats = program.input_dim, program.gates, min(memory // 8, _FLOATS_AT_ONCE)
    widest = max([inputs, *(stage.width for stage in program.stages)])
    if inputs <= gates:
        step = max(1, floats // (3 * (gates + inputs)))
        for start in range(0, inputs, step):
            directions = np.eye(min(step, inputs - start), inputs, start)
            *stages, _ = pushed(program, signs[None, :], directions, linear=True)
            yield np.concatenate([np.zeros(0), *(np.einsum("ij,ij->j", z, z) for z in stages)])
    else:
        step = max(1, floats // (4 * widest + gates))
        for start in range(0, gates, step):
            some = np.arange(start, min(start + step, gates))
            a, _ = gate_forms(program, np.broadcast_to(signs, (len(some), gates)), some)
            part = np.zeros(gates)
            part[some] = np.einsum("ij,ij->i", a, a)
            yield part

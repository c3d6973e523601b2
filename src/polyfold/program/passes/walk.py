"""One walk over a program, and a small arithmetic per kind of value.

A pass goes through the steps of a program in order: an affine function of the values so far, gates that are decided,
what the gates put out. What a value is, floats, floats with error bounds, intervals, rationals, digits, jets, sets, an
arithmetic says, in four short methods; that it happens in this order, once, and that values are forgotten behind their
last reader, is said here and nowhere else. `walk_back` is the same the other way round: coefficients on what steps put
out are carried back to the inputs. `fold` (fold.py) goes through one affine function, for arithmetics that NumPy does
not know.

Ties. A gate whose value is zero is off; this is the only rule (docs/adr/0043-ties.md), and every arithmetic that
decides gates by their values follows it:

- numbers: on where z > 0; a zero is off, whether it is exact or not;
- numbers with a bound on their error: on where z > 0, and `certain` where the bound leaves no other sign. Where it is
  not certain, what the gate puts out covers both of its sides;
- ranges: low >= 0 counts as on and high <= 0 as off. At zero both sides put out zero, so that no value is lost;
- jets (a value and its rates along directions): the first entry that is not zero decides, so that a tie is broken by
  the directions that were asked for, and only by them. All zeros are off;
- a pattern that is held decides by itself, whatever the values are.

What may be walked is a `Program`, or whatever else has `steps`, `stages` and `gates_of`: `ExactProgram`, `Layers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from polyfold.program.steps import Reads, Steps, one_each

A = TypeVar("A", bound=Reads)
S = TypeVar("S")
V = TypeVar("V")
D = TypeVar("D")
R = TypeVar("R")
A_co = TypeVar("A_co", bound=Reads, covariant=True)
S_co = TypeVar("S_co", covariant=True)
A_contra = TypeVar("A_contra", bound=Reads, contravariant=True)
S_contra = TypeVar("S_contra", contravariant=True)


class Gates(NamedTuple, Generic[S]):
    """The gates of a stage: the stage's number and itself, and the numbers of its gates in a pattern."""

    number: int
    stage: S
    numbers: slice


class Walkable(Protocol[A, S_co]):
    """What a walk needs of a program: functions A in the order of a pass, and the stages S that gates belong to."""

    @property
    def steps(self) -> Steps[A]: ...
    @property
    def stages(self) -> Sequence[S_co]: ...
    def gates_of(self, stage: int) -> slice: ...


class Staged(Protocol[A_co, S_co]):
    """What a walk stage by stage needs of a program."""

    @property
    def affines(self) -> Sequence[A_co]: ...
    @property
    def stages(self) -> Sequence[S_co]: ...
    def gates_of(self, stage: int) -> slice: ...


class StageByStage(Generic[A, S]):
    """A program without steps that several stages share: each stage has all of its form to itself.

    For bounds that are tighter along a stage's own form, and for what is known stage by stage.
    """

    def __init__(self, program: Staged[A, S]) -> None:
        self.steps, self.stages, self._program = one_each(program.affines), program.stages, program

    def gates_of(self, stage: int) -> slice:
        return self._program.gates_of(stage)


class Arithmetic(Protocol[A_contra, S, V, D]):
    """What steps do to values V (those of one step, for as many points as it likes), and what is known of gates, D."""

    def affine(self, affine: A_contra, values: Sequence[V], /) -> V:
        """An affine function of the values so far; what it does not read may be `nothing`."""

    def decide(self, gates: Gates[S], z: V, /) -> D:
        """What is known of the gates: by their values, or by a pattern that is held."""

    def output(self, gates: Gates[S], z: V, decided: D, /) -> V:
        """What the gates put out. Nobody reads z behind it: it may be overwritten, if the caller keeps none."""

    def nothing(self, inputs: V, /) -> V:
        """Stands for a value that nobody reads any more."""


class At(NamedTuple, Generic[S, V, D]):
    """Where a walk is: gates, their values and what is known of them; at last the outputs, which have no gates."""

    gates: Gates[S] | None
    z: V
    decided: D | None


def walk(
    program: Walkable[A, S],
    by: Arithmetic[A, S, V, D],
    inputs: V,
    *,
    first: V | None = None,
    start: int = 0,
    forgotten: Sequence[Sequence[int]] | None = None,
) -> Iterator[At[S, V, D]]:
    """All gates, stage by stage, and at last the outputs. A caller may stop at any of them.

    Parameters
    ----------
    program : Program, or what is walked like one
        Its steps say what is computed in which order.
    by : Arithmetic
        What steps do to values.
    inputs : V
        Value 0; or what step `start` puts out.
    first : V, optional
        The first step's z, where it is known by other means.
    start : int
        A push on the value of this step alone, counted from 1: steps that read nothing of it are left out.
    forgotten : table like `Steps.last_read_by`, optional
        For arithmetics that look at values again behind their last reader.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.network.load import load
    >>> from polyfold.program.lower.lower import lower
    >>> class Sizes:  # bounds on the absolute values that can occur
    ...     def affine(self, affine, values): return affine.changed(np.abs)(values)
    ...     def decide(self, gates, z): return np.maximum(np.abs(gates.stage.slope_on), np.abs(gates.stage.slope_off))
    ...     def output(self, gates, z, steepest): return z * steepest
    ...     def nothing(self, inputs): return inputs[:, :0]
    >>> program = lower(load([([[2.0], [-1.0]], [0.0, 1.0]), ([[1.0, -3.0]], [0.5])]))
    >>> [at.z.tolist() for at in walk(program, Sizes(), np.array([[10.0]]))]
    [[[20.0, 11.0]], [[53.5]]]
    """
    steps, stages, nothing = program.steps, program.stages, by.nothing(inputs)
    values: list[V] = [nothing] * (len(steps.steps) + 1)
    values[start], reached = inputs, {start}
    table = steps.last_read_by if forgotten is None else forgotten
    for number in range(start, len(steps.steps)):
        step = steps.steps[number]
        if start:
            if not reached & step.affine.sources:
                continue
            reached.add(number + 1)
        z = by.affine(step.affine, values) if number or first is None else first
        if step.stage is not None:
            gates = Gates(step.stage, stages[step.stage], program.gates_of(step.stage))
            decided = by.decide(gates, z)
            yield At(gates, z, decided)
            z = by.output(gates, z, decided)
            del decided
        values[number + 1] = z
        # Nothing of a stage may outlive its last reader: at large networks all of them together do not fit.
        del z
        for value in table[number]:
            values[value] = nothing
    yield At(None, by.affine(steps.output, values), None)


def outputs(program: Walkable[A, S], by: Arithmetic[A, S, V, D], inputs: V, *, start: int = 0) -> V:
    """The outputs alone; what the arithmetic notes on the way is left in it."""
    for at in walk(program, by, inputs, start=start):
        if at.gates is None:
            return at.z
        del at  # else these values would stay until the next ones are there
    raise AssertionError("a walk ends with the outputs")


class Pulling(Protocol[A_contra, S, R]):
    """What steps do to coefficients R on what they put out, going back."""

    def through(self, gates: Gates[S], rows: R, /) -> R:
        """From coefficients on what gates put out to those on their values; may note a constant."""

    def pull(self, affine: A_contra, rows: R, /) -> Mapping[int, R]:
        """From coefficients on an affine function to those on each value that it reads."""

    def plus(self, one: R, other: R, /) -> R:
        """The sum of coefficients on one value that two others read."""


def walk_back(
    program: Walkable[A, S], by: Pulling[A, S, R], pending: dict[int, R], before: int | None = None
) -> R | None:
    """Coefficients on the values of steps, carried back to the inputs; None if nothing reaches them.

    `pending` holds the coefficients on the values, counted from 1, of steps up to `before`: it is used up on the way.
    """
    steps = program.steps.steps
    for number in range(len(steps) if before is None else before, 0, -1):
        if number not in pending:
            continue
        step, rows = steps[number - 1], pending.pop(number)
        if step.stage is not None:
            rows = by.through(Gates(step.stage, program.stages[step.stage], program.gates_of(step.stage)), rows)
        for value, carried in by.pull(step.affine, rows).items():
            pending[value] = by.plus(pending[value], carried) if value in pending else carried
    return pending.get(0)

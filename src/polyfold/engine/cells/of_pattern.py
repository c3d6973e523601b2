"""The affine map of a pattern, and whether any input has the pattern at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from polyfold._base.clock import OutOfTimeError, Report, running
from polyfold._base.evidence import Evidence
from polyfold._base.inputs import one_of
from polyfold._base.question import question
from polyfold._base.result import Verdict, answered
from polyfold._base.types import Array, ArrayLike, Signs
from polyfold.atlas.evidence import proof_of
from polyfold.domain.domain import Domain, DomainLike
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.feasible import UNDECIDED, Feasibility, Status, feasibility
from polyfold.engine.cells.validity import Validity, check_rows_fit
from polyfold.engine.source import SourceLike, program_anywhere
from polyfold.errors import LimitError, ShapeError, how_many
from polyfold.exact.rational import fraction
from polyfold.program.passes.pulled_back import output_forms
from polyfold.program.program import Program

_PROOF = {
    "cell": "a point inside, whose signs were proved",
    "thin": "a point with the pattern, and exact numbers that leave it no interior",
    "infeasible": "multiples of inequalities that contradict each other",
}


@dataclass(frozen=True, eq=False, repr=False)
class PatternMap(Verdict):
    """The affine map x -> A x + c that a network would have where its gates are on and off as `signs` says.

    The verdict says whether any input in the domain has the pattern; `feasibility` has the proof. The map itself is
    known all the same.
    """

    words = ("feasible", "infeasible", "undecided")

    program: Program
    domain: Domain
    signs: Signs
    A: Array
    c: Array
    feasibility: Feasibility = field(default=UNDECIDED)

    def __repr__(self) -> str:
        return (
            f"PatternMap: {how_many(self.A.shape[1], 'input')} to {how_many(self.A.shape[0], 'output')}, {self.status}"
        )

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        return {"undecided": "unknown", "infeasible": "no"}.get(self.status, "yes")  # type: ignore[return-value]

    @property
    def evidence(self) -> Evidence:
        """Proved, unless it is undecided."""
        return proof_of(self, self.program, self.domain, _PROOF.get(self.status), self.stopped_by)

    def facts(self) -> dict[str, Any]:
        witness = self.witness
        return {
            "verdict": self.verdict,
            "word": self.word,
            "status": self.status,
            "pattern": "".join("01"[on] for on in self.signs.tolist()),
            "A": self.A,
            "c": self.c,
            "witness": None if witness is None else witness.point,
            "contradiction": self.contradiction,
        }

    def ask_instead(self) -> str:
        return "look at its status; the map itself, A and c, is known all the same"

    @property
    def feasible(self) -> bool | None:
        """Whether any input in the domain has the pattern. Proved; None if that was too much work."""
        return None if self.status == "undecided" else self.status != "infeasible"

    @property
    def status(self) -> Status:
        """ "cell", "thin" (inputs have the pattern, but it has no interior), "infeasible" or "undecided"."""
        return self.feasibility.status

    @property
    def witness(self) -> Witness | None:
        """A point with the pattern, if it is feasible."""
        return self.feasibility.witness

    @property
    def contradiction(self) -> Mapping[int, Fraction]:
        """Positive multiples of the walls' inequalities that no point can satisfy together, if it is infeasible.

        The inequalities are those of `exact_row`, a . u <= b, or < b for a gate that is on. Multiplied and added they
        read 0 <= (or <) a number that is negative (or zero).
        """
        return self.feasibility.multipliers

    def exact_row(self, wall: int) -> tuple[tuple[Fraction, ...], Fraction]:
        """(a, b) of a wall's inequality a . u <= b, exactly; `polytope` has the same in floats.

        Walls are gates, and behind them domain rows; u are the domain's parameters. A gate that is on asks for a . u <
        b.

        >>> import polyfold as pf
        >>> pf.maps.of_pattern([([[3.0]], [0.1]), ([[1.0]], [0.0])], [True]).exact_row(0)
        ((Fraction(-3, 1),), Fraction(3602879701896397, 36028797018963968))
        """
        wall = one_of(wall, self.program.gates + self.domain.rows, "wall", "the pattern")
        if self._cells.exact is None:
            raise LimitError("the inequalities of so large a network are not computed exactly: take a smaller one")
        pattern = tuple(self.signs.tolist())
        side = -1 if wall < len(pattern) and not pattern[wall] else 1
        *slopes, value = (fraction(side * x) for x in self._cells.exact.forms.unscaled(pattern, wall))
        return tuple(-x for x in slopes), value

    @cached_property
    def polytope(self) -> Validity:
        """The inequalities of the pattern, one per gate and one per domain row. Refused beyond 4 GiB."""
        check_rows_fit(self.program, self.domain)
        return self._cells.walls.under(self.signs)

    @cached_property
    def _cells(self) -> Cells:
        return Cells(self.program, self.domain)


@question("maps.of_pattern")
def of_pattern(
    source: SourceLike,
    pattern: ArrayLike,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> PatternMap:
    """The affine map of any pattern, and whether there are inputs with it.

    Parameters
    ----------
    source : SourceLike
        A model, or what is made of one. Of an atlas the network is taken, and its domain unless another one is given.
    pattern : ArrayLike, shape (gates,), or one vector per stage
        Which gates are on: bools, or 0 and 1.
    domain : DomainLike, optional
        Where inputs are looked for; None for all of R^d.
    max_seconds : float, optional
        Stop after so long, or at an interrupt (Ctrl-C): whether there are inputs is then "undecided".
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    PatternMap
        The map, A and c; as a truth value whether any input has the pattern, with a point, or a proof that none has.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> absolute = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    >>> pf.maps.of_pattern(absolute, [[True, False]]).A
    array([[1.]])
    >>> both = pf.maps.of_pattern(absolute, [1, 1])  # x > 0 and -x > 0
    >>> both.A, both.feasible, both.contradiction
    (array([[0.]]), False, {0: Fraction(1, 1), 1: Fraction(1, 1)})
    """
    program, where = program_anywhere(source, domain)
    signs = as_signs(program, pattern)
    A, c = output_forms(program, signs[None, :])
    found, clock, stopped_by = PatternMap(program, where, signs, A[0], c[0]), running(), None
    try:
        with clock.noting_interrupts():
            found = replace(found, feasibility=feasibility(found._cells, found.polytope))
    except OutOfTimeError as error:
        stopped_by = error.stopped_by
    except LimitError:  # its inequalities take too much memory
        stopped_by = "size"
    return answered(found, stopped_by=stopped_by)


def as_signs(program: Program, pattern: Any) -> Signs:
    """A pattern as a vector of bools, or an error that quotes it."""
    widths = [stage.width for stage in program.stages]
    expected = f"{how_many(program.gates, 'gate')}, in stages of {widths}"
    try:
        if len(pattern) and all(np.ndim(part) == 1 for part in pattern):
            given = [len(part) for part in pattern]
            if given != widths:
                raise ShapeError(f"the pattern has stages of {given} gates; the network has {expected}")
            pattern = np.concatenate([np.asarray(part) for part in pattern])
        flat = np.asarray(pattern)
    except (TypeError, ValueError):
        raise ShapeError(f"the pattern {pattern!r} is not a vector of bools; the network has {expected}") from None
    if flat.shape != (program.gates,):
        raise ShapeError(f"the pattern has shape {flat.shape}; the network has {expected}")
    if not np.isin(flat, (0, 1)).all():
        odd = flat[~np.isin(flat, (0, 1))][0]
        raise ShapeError(f"a gate is on (True, 1) or off (False, 0); the pattern has {odd}")
    return flat.astype(bool)

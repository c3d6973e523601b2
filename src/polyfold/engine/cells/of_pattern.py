"""The affine map of a pattern, and whether any input has the pattern at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.as_found import first_hand
from polyfold._base.notebook import InNotebooks
from polyfold._base.numbers import one_of
from polyfold._base.truth import YesOrNo
from polyfold.domain.domain import Domain, DomainLike, resolve_domain
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.feasible import Feasibility, Status, feasibility
from polyfold.engine.cells.validity import Validity, check_rows_fit
from polyfold.errors import LimitError, ShapeError, how_many
from polyfold.exact.rational import fraction
from polyfold.network.load import load
from polyfold.program.lower.lower import lower
from polyfold.program.passes.pulled_back import output_forms
from polyfold.program.program import Program

Array = npt.NDArray[np.float64]
Signs = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class PatternMap(YesOrNo, InNotebooks):
    """The affine map x -> A x + c that a network would have where its gates are on and off as `signs` says.

    As a truth value it says whether any input in the domain has the pattern; "undecided" raises UnknownError.
    """

    program: Program
    domain: Domain
    signs: Signs
    A: Array
    c: Array

    def __repr__(self) -> str:
        return (
            f"PatternMap: {how_many(self.A.shape[1], 'input')} to {how_many(self.A.shape[0], 'output')}, {self.status}"
        )

    def truth(self) -> bool | None:
        return self.feasible

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
        """The inequalities of the pattern, one a gate and one a domain row. Refused where they take more than 4 GiB."""
        check_rows_fit(self.program, self.domain)
        return self._cells.walls.under(self.signs)

    @cached_property
    def feasibility(self) -> Feasibility:
        """All that is proved about whether the pattern occurs."""
        return feasibility(self._cells, self.polytope)

    @cached_property
    def _cells(self) -> Cells:
        return Cells(self.program, self.domain)


def of_pattern(network: Any, pattern: Any, *, domain: DomainLike = None) -> PatternMap:
    """The affine map of any pattern, be there inputs with it or not.

    Parameters
    ----------
    network: anything that `pf.load` takes.
    pattern: which gates are on: one flat vector of bools (or 0 and 1), or a list with one such vector a stage.
    domain: where inputs are looked for; None for all of R^d.

    >>> import numpy as np, polyfold as pf
    >>> absolute = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    >>> pf.maps.of_pattern(absolute, [[True, False]]).A
    array([[1.]])
    >>> both = pf.maps.of_pattern(absolute, [1, 1])  # x > 0 and -x > 0
    >>> both.A, both.feasible, both.contradiction
    (array([[0.]]), False, {0: Fraction(1, 1), 1: Fraction(1, 1)})
    """
    program = network if isinstance(network, Program) else lower(load(network))
    signs = as_signs(program, pattern)
    A, c = output_forms(program, signs[None, :])
    return first_hand(PatternMap(program, resolve_domain(domain, program.input_dim), signs, A[0], c[0]))


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
        raise ShapeError(f"the pattern {pattern!r} is no vector of bools; the network has {expected}") from None
    if flat.shape != (program.gates,):
        raise ShapeError(f"the pattern has shape {flat.shape}; the network has {expected}")
    if not np.isin(flat, (0, 1)).all():
        odd = flat[~np.isin(flat, (0, 1))][0]
        raise ShapeError(f"a gate is on (True, 1) or off (False, 0); the pattern has {odd}")
    return flat.astype(bool)

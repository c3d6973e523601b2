"""path_norm: what weights multiply up to along all ways through a network, which no rescaling changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq

from polyfold._base.apart import apart
from polyfold._base.clock import Report, running
from polyfold._base.question import question
from polyfold._base.result import Value, answered
from polyfold._base.words import in_digits
from polyfold.engine.source import SourceLike
from polyfold.errors import PolyfoldError
from polyfold.exact.rational_arrays import Rationals, by_rows, product, zeros
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.passes.walk import Gates, walk
from polyfold.symmetry.exact_layers import evidence_for, exactly, number


@dataclass(frozen=True, repr=False)
class PathNorm(Value):
    """A path norm, without rounding.

    Attributes
    ----------
    value : Fraction
        The sum over all paths.
    norm : int
        The power that weights were taken to.
    biases : bool
        Whether paths that begin at a bias count.
    """

    value: Fraction
    norm: int
    biases: bool

    def __repr__(self) -> str:
        return f"PathNorm: {in_digits(self.value)} for p = {self.norm}{', biases too' * self.biases}; {self.evidence}"


@question("symmetry.path_norm")
def path_norm(
    source: SourceLike | ExactProgram,
    *,
    norm: int = 1,
    biases: bool = False,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> PathNorm:
    """The sum over all paths from an input to an output of the product of |weight|^p, exactly.

    A gate on the way counts with the larger of its slopes, which is 1 for a ReLU. For p = 1 and without biases it
    bounds the function: |f(x) - f(y)|_1 <= path_norm * |x - y|_max. Neyshabur et al. (2015, "Norm-based capacity
    control in neural networks") take the p-th root, which is not rational; Path-SGD uses p = 2.

    Parameters
    ----------
    source : SourceLike or ExactProgram
        A model, or an atlas of one.
    norm : int
        The p, from 1 on.
    biases : bool
        Whether paths that begin at a bias count too.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    PathNorm
        The sum, as a fraction.

    Examples
    --------
    >>> import polyfold as pf
    >>> found = pf.symmetry.path_norm([([[2.0], [-3.0]], [1.0, 1.0]), ([[1.0, 1.0]], [0.0])])
    >>> found.value, float(found)
    (Fraction(5, 1), 5.0)
    """
    if isinstance(norm, bool) or not isinstance(norm, int) or norm < 1:
        raise PolyfoldError(f"norm must be an integer from 1 on (1 and 2 are usual), got {norm!r}")
    program = exactly(source)
    one_each = np.full(program.input_dim, fmpq(1), dtype=object)
    sums = one_each
    for index, at in enumerate(walk(program, _Paths(norm, biases), one_each)):
        running().tell(index + 1, len(program.affines), "layers")
        sums = at.z
    found = number(sum(sums.tolist()), "the path norm")
    return answered(PathNorm(found, norm, biases), evidence_for(source, "added up in rationals"))


class _Paths:
    """The sums over all paths that end in each gate of a layer, or in each output. A gate counts with its steepest
    slope, whatever its sign may be: ties need no rule."""

    def __init__(self, norm: int, biases: bool) -> None:
        self._norm, self._biases = norm, biases

    def affine(self, rows: RationalRows, values: Sequence[Rationals]) -> Rationals:
        return apart(lambda: self._added_up(rows, values))

    def _added_up(self, rows: RationalRows, values: Sequence[Rationals]) -> Rationals:
        total = abs(rows.bias) ** self._norm if self._biases else zeros(rows.size)
        for source, matrix in rows.terms.items():
            total = total + product(by_rows(lambda some: abs(some) ** self._norm, matrix), values[source])
        return total

    def decide(self, gates: Gates[ExactStage], z: Rationals) -> Rationals:
        steepest: Rationals = np.maximum(abs(gates.stage.slope_on), abs(gates.stage.slope_off)) ** self._norm
        return steepest

    def output(self, gates: Gates[ExactStage], z: Rationals, steepest: Rationals) -> Rationals:
        return apart(lambda: z * steepest)

    def nothing(self, inputs: Rationals) -> Rationals:
        return inputs[:0]

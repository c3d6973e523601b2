"""normal_form: one network for all that differ by permutations and positive rescalings of their neurons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from polyfold._base.apart import apart
from polyfold._base.clock import Report
from polyfold._base.question import question
from polyfold._base.result import Result, answered
from polyfold.engine.source import SourceLike
from polyfold.exact.rational_arrays import Rationals
from polyfold.network.graph import Network
from polyfold.program.exact_program import ExactProgram
from polyfold.program.to_network import to_network
from polyfold.symmetry.exact_layers import evidence_for, exactly
from polyfold.symmetry.ordering import canonical_order
from polyfold.symmetry.scales import normalising_factors
from polyfold.symmetry.transformations import Composition, Permutation, Rescaling, Transformation

# What is digested begins with this: another way to write weights down gets another name.
_FORMAT = "polyfold normal form 1"
_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class NormalForm(Result):
    """The representative of a network's weights up to permutations and positive rescalings.

    Attributes
    ----------
    program : ExactProgram
        The weights, in rationals.
    transformation : Composition
        What makes the network the program: rescalings of all hidden layers, then permutations.

    Two forms are equal if and only if one network's weights become the other one's by permutations and positive
    rescalings. Names do not count.
    """

    program: ExactProgram
    transformation: Composition

    @property
    def network(self) -> Network:
        """The form with the nearest floats."""
        return to_network(self.program)

    @property
    def digest(self) -> str:
        """SHA-256 over all weights, and the head if there is one."""
        return sha256(f"{_FORMAT} {self._written!r}".encode()).hexdigest()

    @property
    def factors(self) -> list[tuple[Any, ...]]:
        """For each hidden layer, what its neurons were multiplied by, in the network's own order."""
        return [step.factors for step in self.transformation.steps if isinstance(step, Rescaling)]

    @property
    def orders(self) -> list[tuple[int, ...]]:
        """For each hidden layer, the network's own neurons in the order of the form."""
        return [step.order for step in self.transformation.steps if isinstance(step, Permutation)]

    def facts(self) -> dict[str, Any]:
        return {
            "widths": [*self.program.widths, self.program.output_dim],
            "digest": self.digest,
            "factors": self.factors,
            "orders": self.orders,
        }

    @cached_property
    def _written(self) -> tuple[Any, ...]:
        return written(self.program)

    def __eq__(self, other: object) -> bool:
        return self._written == other._written if isinstance(other, NormalForm) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._written)

    def __repr__(self) -> str:
        widths = [*self.program.widths, self.program.output_dim]
        return f"NormalForm: {' -> '.join(map(str, widths))}; digest {self.digest[:_SHOWN]}..."


@question("symmetry.normal_form")
def normal_form(
    source: SourceLike | ExactProgram,
    *,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> NormalForm:
    """The normal form of a network's weights, one for all that differ by permutations and positive rescalings.

    The incoming weights and the bias of every neuron are scaled to absolute values that add up to 1 (scales.py), and
    neurons are sorted by their weights (ordering.py), all in rationals.

    It is a form of the weights: networks that are the same function for other reasons have others
    (`pf.compare.canonical` has one form for them all).

    Parameters
    ----------
    source : SourceLike or ExactProgram
        A model, or an atlas of one.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    NormalForm
        The weights in normal form, and what takes the network there.

    Examples
    --------
    >>> import polyfold as pf
    >>> form = pf.symmetry.normal_form([([[2.0], [-4.0]], [2.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> form.program.stages[0].rows.terms[0].tolist(), form.program.output.terms[1].tolist()
    ([[-1], [1/2]], [[4, 4]])
    >>> form == pf.symmetry.normal_form([([[-1.0], [1.0]], [0.0, 1.0]), ([[4.0, 2.0]], [0.0])])
    True
    """
    found = apart(lambda: form_of(exactly(source)))
    return answered(found, evidence_for(source, "brought to normal form in rationals"))


def form_of(program: ExactProgram) -> NormalForm:
    """The same of a program."""
    steps: list[Transformation] = [
        Rescaling(layer, factors) for layer, factors in enumerate(normalising_factors(program), start=1)
    ]
    scaled = Composition(tuple(steps)).apply(program)
    steps += [Permutation(layer, order) for layer, order in enumerate(canonical_order(scaled), start=1)]
    transformation = Composition(tuple(steps))
    return NormalForm(transformation.apply(program), transformation)


def written(program: ExactProgram) -> tuple[Any, ...]:
    """All numbers of a program, its head and nothing else: programs with the same ones are told by comparing these."""
    affines = tuple(
        (
            _numbers(rows.bias),
            tuple(
                (source, matrix.shape, _numbers(matrix))
                for source, matrix in sorted(rows.terms.items())
                if matrix.any()
            ),
        )
        for rows in program.affines
    )
    slopes = tuple((_numbers(stage.slope_on), _numbers(stage.slope_off)) for stage in program.stages)
    head = () if program.frame.head is None else (program.frame.head.text,)
    return program.widths, slopes, affines, *head


def _numbers(array: Rationals) -> tuple[Any, ...]:
    return tuple(array.ravel().tolist())

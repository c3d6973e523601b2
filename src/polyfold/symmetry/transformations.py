"""Equioutput transformations as values: permutations, positive rescalings and flips, their inverses and compositions.

A transformation changes weights and leaves the function the same at every input. It is data, not a network: it can be
kept, compared, inverted, composed, and applied to any network that has the layers it speaks of.

On an ExactProgram everything is exact. On anything else the result is a Network with the nearest floats. It is the same
function to the last digit where the exact weights are floats: after permutations, and rescalings by powers of two. Else
every weight has been rounded once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self, overload

import numpy as np

from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.rational_arrays import by_rows, nearest, product, rationals
from polyfold.network.graph import Network
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.to_network import to_network
from polyfold.symmetry.exact_layers import (
    exactly,
    layer_of,
    numbers,
    plus_rows,
    shown,
    whole,
    wholes,
    with_layer,
    with_term,
)

KINDS = ("permutation", "rescaling", "flip")


class Transformation(ABC):
    """A change of weights that leaves the function the same."""

    @abstractmethod
    def apply(self, program: ExactProgram) -> ExactProgram:
        """The changed program, exactly."""

    @abstractmethod
    def inverse(self) -> Transformation:
        """What undoes this one."""

    @overload
    def __call__(self, network: ExactProgram) -> ExactProgram: ...
    @overload
    def __call__(self, network: Any) -> Network: ...
    def __call__(self, network: Any) -> Network | ExactProgram:
        """The changed network: exactly, if it is an ExactProgram; else a Network, rounded to the nearest floats.

        `network` is an ExactProgram or anything that `pf.load` takes.
        """
        if isinstance(network, ExactProgram):
            return self.apply(network)
        changed = self.apply(exactly(network))
        _check_in_range(self, changed)
        return to_network(changed)

    def then(self, other: Transformation) -> Transformation:
        """This one first, the other one after it."""
        if not isinstance(other, Transformation):
            raise PolyfoldError(f"{other!r} is no transformation; say pf.symmetry.Permutation(1, (1, 0))")
        return compose((self, other))


@dataclass(frozen=True)
class Permutation(Transformation):
    """Neurons of a hidden layer in another order: new neuron i is the old neuron order[i].

    Slopes go with their neurons. Names stay: a neuron is called by its layer and its place.

    >>> from polyfold.program.exact_program import from_layers
    >>> network = from_layers([([[1], [2], [3]], [0, 0, 0]), ([[4, 5, 6]], [0])])
    >>> swapped = Permutation(1, (2, 0, 1))(network)
    >>> swapped.stages[0].rows.terms[0].ravel(), swapped.output.terms[1].ravel()
    (array([3, 1, 2], dtype=object), array([6, 4, 5], dtype=object))
    >>> Permutation(1, (2, 0, 1)).inverse()
    Permutation(layer=1, order=(1, 2, 0))
    """

    layer: int
    order: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layer", whole(self.layer, "the layer"))
        object.__setattr__(self, "order", wholes(self.order, "the order"))
        if sorted(self.order) != list(range(len(self.order))):
            raise PolyfoldError(
                f"{self!r}: the order must hold each of 0, ..., {len(self.order) - 1} once (neurons are counted from 0)"
            )

    def apply(self, program: ExactProgram) -> ExactProgram:
        stage = layer_of(program, self.layer, self)
        _check_size(self, len(self.order), stage)
        order = np.asarray(self.order, dtype=np.int64)
        moved = replace(stage.take(order), origins=stage.origins)
        return with_layer(
            program, self.layer, moved, lambda rows: with_term(rows, self.layer, rows.terms[self.layer][:, order])
        )

    def inverse(self) -> Permutation:
        return Permutation(self.layer, tuple(np.argsort(self.order).tolist()))


@dataclass(frozen=True, repr=False)
class Rescaling(Transformation):
    """Incoming weights and bias of neuron i times factors[i] > 0, outgoing weights divided by it.

    >>> from polyfold.program.exact_program import from_layers
    >>> network = from_layers([([[1], [2]], [3, 4]), ([[5, 6]], [7])])
    >>> scaled = Rescaling(1, (2, Fraction(1, 3)))(network)
    >>> scaled.stages[0].rows.bias, scaled.output.terms[1]
    (array([6, 4/3], dtype=object), array([[5/2, 18]], dtype=object))
    >>> Rescaling(1, (2, Fraction(1, 3))).inverse()
    Rescaling(layer=1, factors=(1/2, 3))
    """

    layer: int
    factors: tuple[Fraction, ...]

    def __init__(self, layer: Any, factors: Iterable[Any]) -> None:
        """Factors may be any finite numbers above zero: fractions, flint's rationals, integers or floats."""
        object.__setattr__(self, "layer", whole(layer, "the layer"))
        object.__setattr__(self, "factors", numbers(factors, "the factors"))
        for neuron, factor in enumerate(self.factors):
            if factor <= 0:
                raise PolyfoldError(
                    f"{self!r}: factor {neuron} is {factor}; factors must be above zero, as only those pass through a "
                    "ReLU (Flip changes signs)"
                )

    def __repr__(self) -> str:
        return f"Rescaling(layer={self.layer}, factors={shown(self.factors)})"

    def apply(self, program: ExactProgram) -> ExactProgram:
        stage = layer_of(program, self.layer, self)
        _check_size(self, len(self.factors), stage)
        factors = rationals(list(self.factors))
        scaled = RationalRows(
            {
                source: by_rows(lambda matrix, factor: matrix * factor[:, None], matrix, factors)
                for source, matrix in stage.rows.terms.items()
            },
            stage.rows.bias * factors,
        )
        return with_layer(
            program,
            self.layer,
            replace(stage, rows=scaled),
            lambda rows: with_term(rows, self.layer, by_rows(lambda some: some / factors, rows.terms[self.layer])),
        )

    def inverse(self) -> Rescaling:
        return Rescaling(self.layer, tuple(1 / factor for factor in self.factors))


@dataclass(frozen=True)
class Flip(Transformation):
    """The incoming weights and biases of some neurons are negated, and what reads the layer gets the linear rest.

    A gate with slopes a where z > 0 and b elsewhere has g(z) = (a + b) z + g(-z): that is z + g(-z) for a ReLU,
    (1 + mu) z + g(-z) for a LeakyReLU, g(-z) alone for an absolute value. So (a + b) v z is added to every row that
    reads the neuron by a weight v, as weights on the layer's own sources. A network that had layers only gets
    connections that skip this one; no neuron is added.

    >>> from polyfold.program.exact_program import from_layers
    >>> network = from_layers([([[1, 2], [3, 4]], [5, 6]), ([[1, 1]], [0])])
    >>> flipped = Flip(1, (1,))(network)
    >>> flipped.stages[0].rows.terms[0].tolist(), flipped.output.terms[0].tolist(), flipped.output.bias.tolist()
    ([[1, 2], [-3, -4]], [[3, 4]], [6])
    >>> Flip(1, (1, 0)).inverse() == Flip(1, (0, 1))
    True
    """

    layer: int
    neurons: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layer", whole(self.layer, "the layer"))
        neurons = wholes(self.neurons, "the neurons")
        if len(set(neurons)) != len(neurons):
            raise PolyfoldError(f"Flip(layer={self.layer}, neurons={neurons}): a neuron is named twice; name each once")
        object.__setattr__(self, "neurons", tuple(sorted(neurons)))

    def apply(self, program: ExactProgram) -> ExactProgram:
        stage = layer_of(program, self.layer, self)
        for neuron in self.neurons:
            check_neuron(self, neuron, stage)
        chosen = np.asarray(self.neurons, dtype=np.int64)
        signs = np.ones(stage.width)
        signs[chosen] = -1
        both = stage.slope_on[chosen] + stage.slope_off[chosen]
        linear = stage.rows.take(chosen)

        def reading(rows: RationalRows) -> RationalRows:
            weights = rows.terms[self.layer][:, chosen] * both
            through = {source: product(weights, matrix) for source, matrix in linear.terms.items()}
            return plus_rows(rows, RationalRows(through, product(weights, linear.bias)))

        return with_layer(program, self.layer, replace(stage, rows=stage.rows.scaled(signs)), reading)

    def inverse(self) -> Flip:
        return self


@dataclass(frozen=True)
class Composition(Transformation):
    """Transformations one after the other, the first one first. Compositions within are written out.

    >>> swap, double = Permutation(1, (1, 0)), Rescaling(1, (1, 2))
    >>> swap.then(double).inverse()
    Composition(steps=(Rescaling(layer=1, factors=(1, 1/2)), Permutation(layer=1, order=(1, 0))))
    """

    steps: tuple[Transformation, ...]

    def __post_init__(self) -> None:
        flat: list[Transformation] = []
        for step in self.steps:
            if not isinstance(step, Transformation):
                raise PolyfoldError(f"{step!r} is no transformation; a composition holds nothing else")
            flat += step.steps if isinstance(step, Composition) else [step]
        object.__setattr__(self, "steps", tuple(flat))

    def apply(self, program: ExactProgram) -> ExactProgram:
        for step in self.steps:
            program = step.apply(program)
        return program

    def inverse(self) -> Self:
        return type(self)(tuple(step.inverse() for step in reversed(self.steps)))


identity = Composition(())


def compose(steps: Iterable[Transformation]) -> Transformation:
    """Transformations one after the other as one: the only step itself if there is one.

    >>> compose([identity, Flip(1, (0,))])
    Flip(layer=1, neurons=(0,))
    """
    whole_way = Composition(tuple(steps))
    return whole_way.steps[0] if len(whole_way.steps) == 1 else whole_way


def random_transformation(
    network: Any, seed: int = 0, *, kinds: Iterable[str] = ("permutation", "rescaling")
) -> Transformation:
    """Random transformations of every hidden layer, one after the other; the same seed draws the same ones.

    `kinds` are any of "permutation", "rescaling" and "flip". Flips are not drawn unless they are asked for, as they add
    connections that skip layers. Factors are powers of two from 1/8 to 8, so that floats stay exact.

    >>> random_transformation([([[1.0], [2.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])], 1)
    Composition(steps=(Permutation(layer=1, order=(0, 1)), Rescaling(layer=1, factors=(1, 4))))
    """
    drawn = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in drawn:
        if kind not in KINDS:
            raise PolyfoldError(
                f"there is no kind of transformation {kind!r}; take some of {', '.join(map(repr, KINDS))}"
            )
    rng = np.random.default_rng(seed)
    program = exactly(network)
    steps: list[Transformation] = []
    for layer, stage in enumerate(program.stages, start=1):
        for kind in drawn:
            if kind == "permutation":
                steps.append(Permutation(layer, tuple(rng.permutation(stage.width).tolist())))
            elif kind == "rescaling":
                exponents = rng.integers(-3, 4, size=stage.width).tolist()
                steps.append(Rescaling(layer, [Fraction(2) ** exponent for exponent in exponents]))
            else:
                steps.append(Flip(layer, tuple(np.flatnonzero(rng.random(stage.width) < 0.5).tolist())))
    return compose(steps)


def check_neuron(what: Transformation, neuron: int, stage: ExactStage) -> None:
    """Refuses a neuron that a layer does not have."""
    if not 0 <= neuron < stage.width:
        raise PolyfoldError(
            f"{what!r}: there is no neuron {neuron}; the layer has {how_many(stage.width, 'neuron')}, counted from 0"
        )


def _check_in_range(what: Transformation, program: ExactProgram) -> None:
    """Refuses what rounding to floats would make infinite, or zero where it is not: that is another function."""
    arrays = [array for rows in program.affines for array in (rows.bias, *rows.terms.values())]
    for array in arrays:
        floats = nearest(array)
        lost = ~np.isfinite(floats) | ((floats == 0) & np.asarray(array != 0, dtype=np.bool_))
        if lost.any():
            size = "small" if np.isfinite(floats[lost][0]) else "large"
            raise PolyfoldError(
                f"{what!r} makes a weight that is too {size} for a float; apply it to an ExactProgram, which has any "
                "rational numbers"
            )


def _check_size(what: Transformation, size: int, stage: ExactStage) -> None:
    if size != stage.width:
        raise PolyfoldError(
            f"{what!r} is for {how_many(size, 'neuron')}, but the layer has {stage.width}: give one entry for each"
        )

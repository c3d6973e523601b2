"""Edits that turn a generic network into one with structure or with a degeneracy.

An edit changes a draft in place. Structure (skips, slopes, max gates) keeps walls in general position;
degeneracies put walls on top of each other, through one point, or make gates that are constant or vanish on
whole cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from polyfold.testing.networks import Draft, DraftAffine, DraftStage

Rng = np.random.Generator
Edit = Callable[[Rng, Draft], None]


def leaky(rng: Rng, draft: Draft) -> None:
    """Slopes of LeakyReLU, of the absolute value, and steeper below zero than above."""
    for stage in draft.stages:
        stage.slope_off[:] = rng.choice([-1.0, 0.0, 0.1, 2.5], size=stage.width)


def skips(rng: Rng, draft: Draft) -> None:
    """Every affine function after the first also reads some source from before its own."""
    for own, affine in enumerate(draft.affines[1:], start=1):
        source = int(rng.integers(own))
        columns = draft.input_dim if source == 0 else draft.stages[source - 1].width
        affine.add(source, rng.normal(size=(len(affine.bias), columns)))


def max_gates(rng: Rng, draft: Draft) -> None:
    """Some gates become max(a, b) = b + relu(a - b): whoever reads the gate reads b as well."""
    for k, stage in enumerate(draft.stages):
        reader = draft.affines[k + 1]
        for gate in np.flatnonzero(rng.random(stage.width) < 0.5):
            stage.slope_on[gate], stage.slope_off[gate] = 1.0, 0.0
            factors = reader.weights[k + 1][:, gate]
            for source, weight in list(stage.affine.weights.items()):
                b = rng.normal(size=weight.shape[1])
                weight[gate] -= b
                reader.add(source, np.outer(factors, b))


def zero_biases(rng: Rng, draft: Draft) -> None:
    """All walls go through the origin, at every depth."""
    for affine in draft.affines:
        affine.bias[:] = 0.0


def dead(rng: Rng, draft: Draft) -> None:
    """A gate that is off: behind ReLUs its weights are negative, in the first stage its wall is far away."""
    for k, stage in enumerate(draft.stages):
        gate = rng.integers(stage.width)
        if k == 0:
            stage.affine.bias[gate] = -1000.0
        else:
            for weight in stage.affine.weights.values():
                weight[gate] = -np.abs(weight[gate])
            stage.affine.bias[gate] = rng.choice([-1.0, 0.0])


def duplicates(rng: Rng, draft: Draft) -> None:
    """Two gates are equal up to a positive factor."""
    for first, second, affine in _pairs(rng, draft):
        _set_row(affine, second, first, float(rng.choice([1.0, 2.0, 0.1])))


def opposite(rng: Rng, draft: Draft) -> None:
    """One gate is on exactly where another one is off."""
    for first, second, affine in _pairs(rng, draft):
        _set_row(affine, second, first, float(rng.choice([-1.0, -0.5])))


def parallel(rng: Rng, draft: Draft) -> None:
    """Two walls never meet; they may be one unit apart or very close."""
    for first, second, affine in _pairs(rng, draft):
        bias = affine.bias[first] + rng.choice([1.0, -0.25, 1e-9])
        _set_row(affine, second, first, 1.0)
        affine.bias[second] = bias


def tilted(rng: Rng, draft: Draft) -> None:
    """Two walls cross at an angle of about 1e-12."""
    for first, second, affine in _pairs(rng, draft):
        _set_row(affine, second, first, 1.0)
        for weight in affine.weights.values():
            weight[second] *= 1.0 + 1e-12 * rng.normal(size=weight.shape[1])


def zero_rows(rng: Rng, draft: Draft) -> None:
    """A gate with a constant pre-activation: positive, negative or zero."""
    stage = _any_stage(rng, draft)
    gate = rng.integers(stage.width)
    for weight in stage.affine.weights.values():
        weight[gate] = 0.0
    stage.affine.bias[gate] = rng.choice([-1.0, 0.0, 1.0])


def integers(rng: Rng, draft: Draft) -> None:
    """Weights and biases are small integers: walls meet where they should not."""
    for affine in draft.affines:
        for weight in affine.weights.values():
            weight[...] = rng.integers(-2, 3, size=weight.shape)
        affine.bias[:] = rng.integers(-1, 2, size=len(affine.bias))


def concurrent(rng: Rng, draft: Draft) -> None:
    """All walls of the first stage go through one point; coarse coefficients make this hold exactly."""
    affine = draft.stages[0].affine
    weight = affine.weights[0]
    weight[...] = np.round(weight * 8) / 8
    affine.bias[:] = -weight @ rng.integers(-1, 2, size=draft.input_dim)


def grid(rng: Rng, draft: Draft) -> None:
    """The first stage's walls are parallel to the axes."""
    affine = draft.stages[0].affine
    weight = affine.weights[0]
    axes = rng.integers(draft.input_dim, size=len(weight))
    weight[...] = np.eye(draft.input_dim)[axes] * rng.choice([-1.0, 1.0], size=(len(weight), 1))
    affine.bias[:] = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=len(weight))


def constant_behind(rng: Rng, draft: Draft) -> None:
    """A gate that reads one earlier gate only: where that one is off it is constant, and often zero."""
    for k, stage in enumerate(draft.stages[1:], start=1):
        gate = rng.integers(stage.width)
        for source, weight in stage.affine.weights.items():
            single = rng.integers(weight.shape[1])
            weight[gate] = np.where((np.arange(weight.shape[1]) == single) & (source == k), weight[gate], 0.0)
        stage.affine.bias[gate] = rng.choice([-1.0, 0.0, 0.0, 1.0])


def touching(rng: Rng, draft: Draft) -> None:
    """A deep gate on -|z| of an earlier z: it reaches zero on a wall, and turns back."""
    for k in range(1, len(draft.stages)):
        before, stage = draft.stages[k - 1], draft.stages[k]
        if before.width < 2:
            continue
        _set_row(before.affine, 1, 0, -1.0)
        before.slope_on[:2], before.slope_off[:2] = 1.0, 0.0
        gate = rng.integers(stage.width)
        for source, weight in stage.affine.weights.items():
            weight[gate] = np.where((np.arange(weight.shape[1]) < 2) & (source == k), -1.0, 0.0)
        stage.affine.bias[gate] = 0.0


def along_the_unit_box(rng: Rng, draft: Draft) -> None:
    """Walls of the first stage lie on faces of [-1, 1]^d, or go through one of its corners."""
    affine = draft.stages[0].affine
    weight = affine.weights[0]
    for gate in range(len(weight)):
        if rng.random() < 0.5:
            weight[gate] = np.eye(draft.input_dim)[rng.integers(draft.input_dim)] * rng.choice([-1.0, 1.0])
            affine.bias[gate] = rng.choice([-1.0, 1.0])
        else:
            weight[gate] = np.round(weight[gate] * 8) / 8
            affine.bias[gate] = weight[gate] @ rng.choice([-1.0, 1.0], size=draft.input_dim)


def shared_kernel(rng: Rng, draft: Draft) -> None:
    """Weight sharing as in a convolution: the rows of a matrix are one kernel, shifted, with one bias."""
    for stage in draft.stages:
        for weight in stage.affine.weights.values():
            weight[...] = [np.roll(weight[0], shift) for shift in range(len(weight))]
        stage.affine.bias[:] = stage.affine.bias[0]


def shared_stages(rng: Rng, draft: Draft) -> None:
    """Every stage has the coefficients of the first one, as far as their shapes go."""
    first = draft.stages[0].affine
    for k, stage in enumerate(draft.stages[1:], start=1):
        own, shared = stage.affine.weights[k], first.weights[0]
        rows, columns = np.minimum(own.shape, shared.shape)
        own[:rows, :columns] = shared[:rows, :columns]
        stage.affine.bias[:rows] = first.bias[:rows]


def rank_deficient(rng: Rng, draft: Draft) -> None:
    """A matrix of rank one, or of rank two: walls of a stage are parallel, or share a direction."""
    affine = _any_stage(rng, draft).affine
    for weight in affine.weights.values():
        rows, columns = weight.shape
        rank = int(rng.integers(1, 3))
        # Small integers multiply without rounding: the product has this rank exactly.
        weight[...] = rng.integers(-3, 4, size=(rows, rank)) @ rng.integers(-3, 4, size=(rank, columns))


def mixed_scales(rng: Rng, draft: Draft) -> None:
    """The gates' pre-activations are between 1e-8 and 1e8 times what they were: their walls stay."""
    for stage in draft.stages:
        factors = 2.0 ** rng.integers(-26, 27, size=stage.width)
        for weight in stage.affine.weights.values():
            weight *= factors[:, None]
        stage.affine.bias *= factors


def deep_concurrent(rng: Rng, draft: Draft) -> None:
    """The walls of all stages go through one point; coarse coefficients make this hold exactly."""
    values = [rng.integers(-1, 2, size=draft.input_dim).astype(np.float64)]
    for stage in draft.stages:
        for weight in stage.affine.weights.values():
            weight[...] = np.round(weight * 4) / 4
        stage.affine.bias[:] = -sum(weight @ values[source] for source, weight in stage.affine.weights.items())
        values.append(np.zeros(stage.width))


STRUCTURE: tuple[Edit, ...] = (leaky, skips, max_gates)
DEGENERACIES: tuple[Edit, ...] = (
    zero_biases,
    dead,
    duplicates,
    opposite,
    parallel,
    tilted,
    zero_rows,
    integers,
    concurrent,
    grid,
    constant_behind,
    touching,
)
# For the wide cases; in a tuple of their own, so that a seed of the others keeps its case.
MORE_DEGENERACIES: tuple[Edit, ...] = (shared_kernel, shared_stages, rank_deficient, mixed_scales, deep_concurrent)


def _any_stage(rng: Rng, draft: Draft) -> DraftStage:
    return draft.stages[int(rng.integers(len(draft.stages)))]


def _pairs(rng: Rng, draft: Draft) -> Iterator[tuple[int, int, DraftAffine]]:
    """Two different gates of each stage that has two."""
    for stage in draft.stages:
        if stage.width >= 2:
            first, second = rng.choice(stage.width, size=2, replace=False).tolist()
            yield first, second, stage.affine


def _set_row(affine: DraftAffine, target: int, source: int, factor: float) -> None:
    for weight in affine.weights.values():
        weight[target] = factor * weight[source]
    affine.bias[target] = factor * affine.bias[source]

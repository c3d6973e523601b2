"""Flatness against Hessians by automatic differentiation, and what rescaling changes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import polyfold as pf
from helpers.exact_networks import SEEDS, exact, generated, random_steps
from helpers.slow_params import quick_then_slow
from polyfold.exact.rational_arrays import nearest
from polyfold.program.exact_program import ExactProgram
from polyfold.testing.edits import leaky, skips
from polyfold.testing.networks import random_draft

torch = pytest.importorskip("torch")
LOSSES = ("squared", "cross_entropy")
TINY = 1e-12
flatness = pf.symmetry.flatness


def network(seed: int, *dims: int, slopes: bool = False, skipping: bool = False) -> ExactProgram:
    rng = np.random.default_rng(seed)
    draft = random_draft(rng, dims)
    if slopes:
        leaky(rng, draft)
    if skipping:
        skips(rng, draft)
    return exact(draft.freeze())


def data(program: ExactProgram, seed: int, loss: str, count: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 7])
    X = rng.normal(size=(count, program.input_dim))
    y = (
        rng.integers(program.output_dim, size=count)
        if loss == "cross_entropy"
        else rng.normal(size=(count, program.output_dim))
    )
    return X, y


def loss_in_torch(program: ExactProgram, X: Any, y: Any, loss: str, number: int, weights: Any) -> Any:
    """The loss as a function of the weights of one layer, all its matrices side by side."""
    sources = [torch.tensor(X)]
    for k, rows in enumerate(program.affines):
        z, first = torch.tensor(nearest(rows.bias)).expand(len(X), -1), 0
        for source, matrix in sorted(rows.terms.items()):
            columns = matrix.shape[1]
            W = weights[:, first : first + columns] if k == number else torch.tensor(nearest(matrix))
            z, first = z + sources[source] @ W.T, first + columns
        if k < len(program.stages):
            on, off = (torch.tensor(nearest(s)) for s in (program.stages[k].slope_on, program.stages[k].slope_off))
            z = torch.where(z > 0, z * on, z * off)
        sources.append(z)
    if loss == "squared":
        return ((sources[-1] - torch.tensor(y)) ** 2).sum(dim=1).mean()
    return torch.nn.functional.cross_entropy(sources[-1], torch.tensor(y))


def by_hessians(program: ExactProgram, X: Any, y: Any, loss: str) -> np.ndarray:
    """Trace, relative and neuronwise flatness of every layer, by the definitions."""
    found = []
    for number, rows in enumerate(program.affines):
        blocks = [nearest(matrix) for _, matrix in sorted(rows.terms.items())]
        W = np.concatenate(blocks, axis=1)
        H = torch.autograd.functional.hessian(
            lambda weights, number=number: loss_in_torch(program, X, y, loss, number, weights), torch.tensor(W)
        ).numpy()
        relative, first = 0.0, 0
        for block in blocks:
            part = slice(first, first + block.shape[1])
            traces = np.einsum("atbt->ab", H[:, part, :, part])
            relative, first = relative + (block @ block.T * traces).sum(), first + block.shape[1]
        neuronwise = np.einsum("at,bt,atbt->", W, W, H)
        found.append((np.einsum("atat->", H), relative, neuronwise))
    return np.array(found).T


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", quick_then_slow(range(4), quick=1))
@pytest.mark.parametrize("slopes", [False, True])
@pytest.mark.parametrize("skipping", [False, True])
def test_against_hessians(loss: str, seed: int, slopes: bool, skipping: bool) -> None:
    program = network(seed, 3, 4, 3, 2, slopes=slopes, skipping=skipping)
    X, y = data(program, seed, loss)
    found = flatness(program, X, y, loss=loss)
    expected = by_hessians(program, X, y, loss)
    np.testing.assert_allclose([found.trace, found.relative, found.neuronwise], expected, rtol=1e-10, atol=1e-13)
    weights = np.concatenate([nearest(matrix) for _, matrix in sorted(program.output.terms.items())], axis=1)
    value = loss_in_torch(program, X, y, loss, len(program.stages), torch.tensor(weights))
    assert found.loss == pytest.approx(value.item(), rel=1e-12)


@given(seed=SEEDS, loss=st.sampled_from(LOSSES))
@example(seed=806243, loss="squared")  # inputs on walls, where rounding would choose the side
@settings(max_examples=40, deadline=None)
def test_no_rescaling_or_permutation_changes_the_neuronwise_form(seed: int, loss: str) -> None:
    program = generated(seed)
    loss = loss if program.output_dim > 1 else "squared"
    X, y = data(program, seed, loss)
    changed = random_steps(program, seed, ("permutation", "rescaling"), count=6)(program)
    here, there = (flatness(each, X, y, loss=loss) for each in (program, changed))
    np.testing.assert_allclose(there.neuronwise, here.neuronwise, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_rescaling_changes_the_trace_and_not_the_invariant_forms(loss: str) -> None:
    program = network(1, 3, 6, 5, 2)
    X, y = data(program, 1, loss, 30)
    before = flatness(program, X, y, loss=loss)
    neurons = pf.symmetry.random_transformation(program, 5, kinds="rescaling")
    after = flatness(neurons(program), X, y, loss=loss)
    assert after.loss == pytest.approx(before.loss, rel=TINY)
    assert after.neuronwise == pytest.approx(before.neuronwise, rel=TINY)
    assert all(a != pytest.approx(b, rel=1e-2) for a, b in zip(after.trace, before.trace, strict=True))
    # A layer that reads rescaled neurons has another relative flatness; the first one reads inputs only.
    assert after.relative[0] == pytest.approx(before.relative[0], rel=TINY)
    assert after.relative[1] != pytest.approx(before.relative[1], rel=1e-2)
    layers = pf.symmetry.Rescaling(1, [8] * 6).then(pf.symmetry.Rescaling(2, [0.25] * 5))
    whole = flatness(layers(program), X, y, loss=loss)
    assert whole.relative == pytest.approx(before.relative, rel=TINY)
    assert whole.neuronwise == pytest.approx(before.neuronwise, rel=TINY)
    assert whole.trace[0] < before.trace[0] / 4


def test_the_trace_can_be_made_as_large_as_one_likes() -> None:
    """The example of Dinh et al.: the same function, with a loss that seems as sharp as one likes."""
    program = network(2, 2, 4, 1)
    X, y = data(program, 2, "squared")
    sharp = pf.symmetry.Rescaling(1, [2.0**-20] * 4)(program)
    here, there = flatness(program, X, y), flatness(sharp, X, y)
    assert there.trace[0] == pytest.approx(here.trace[0] * 2.0**40, rel=TINY)
    assert there.neuronwise == pytest.approx(here.neuronwise, rel=TINY)
    assert there.relative == pytest.approx(here.relative, rel=TINY)


@pytest.mark.parametrize("loss", LOSSES)
def test_many_inputs_are_means_of_fewer(loss: str) -> None:
    """Some thousand inputs are taken in several batches; those of each third are in one."""
    program = network(3, 2, 300, 10)
    X, y = data(program, 3, loss, 4200)
    parts = [flatness(program, X[k::3], y[k::3], loss=loss) for k in range(3)]
    found = flatness(program, X, y, loss=loss)
    for name in ("loss", "trace", "relative", "neuronwise"):
        mean = np.mean([getattr(part, name) for part in parts], axis=0)
        np.testing.assert_allclose(getattr(found, name), mean, rtol=1e-10)


def test_models() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)).double()
    X, y = torch.randn(10, 2).double(), torch.arange(10) % 3
    found = flatness(model, X, y, loss="cross_entropy")
    assert found.loss == pytest.approx(torch.nn.functional.cross_entropy(model(X), y).item(), rel=1e-12)
    assert len(found.trace) == len(found.relative) == len(found.neuronwise) == 2


@pytest.mark.parametrize(
    ("X", "y", "loss", "message"),
    [
        ([[1.0]], [[0.0, 0.0]], "squared", r"X must be rows of 2 numbers, or one such row; its shape is \(1, 1\)"),
        ([[1.0, 2.0]], [0.0], "squared", r"y must be rows of 2 numbers, or one such row; its shape is \(1,\)"),
        ([[1.0, 2.0]], [[0.0, 0.0]] * 2, "squared", "y has 2 rows, and X has 1: give one target per input"),
        ([[1.0, float("nan")]], [[0.0, 0.0]], "squared", r"X\[0, 1\] is nan"),
        (
            [[1.0, 2.0]],
            [0, 1],
            "cross_entropy",
            r"y must have one label per row of X, which has 1 row; its shape is \(2,\)",
        ),
        ([[1.0, 2.0]], [2], "cross_entropy", r"y\[0\] is 2: labels must be numbers of classes, 0 to 1"),
        ([[1.0, 2.0]], [0.5], "cross_entropy", r"y\[0\] is 0.5"),
        ([[1.0, 2.0]], [0], "hinge", "loss must be 'squared' or 'cross_entropy', got 'hinge'"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "squared", "X has no rows"),
    ],
)
def test_data_that_makes_no_sense(X, y, loss: str, message: str) -> None:
    with pytest.raises(pf.PolyfoldError, match=message):
        flatness(network(0, 2, 3, 2), X, y, loss=loss)


def test_cross_entropy_needs_classes() -> None:
    with pytest.raises(pf.PolyfoldError, match="cross entropy needs one output per class"):
        flatness(network(0, 2, 3, 1), [[1.0, 2.0]], [0], loss="cross_entropy")

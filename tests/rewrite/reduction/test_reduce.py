"""No step ever changes the function: generated cases, real models, rounding, skips, activations, names."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import polyfold as pf
from helpers.confirming import confirmed
from helpers.shared_files import MODELS
from helpers.slow_params import examples
from polyfold.datasets.digits import mnist_l1
from polyfold.program.exact_program import from_layers, from_program
from polyfold.testing.strategies import cases


@settings(max_examples=examples(80), deadline=None)
@given(cases())
def test_generated_cases(case):
    """In rationals at exact witnesses of all cells, and by pf.equivalent."""
    program = replace(case.program, rounding=None)
    found = pf.reduce(program, case.domain, max_seconds=5)
    assert found.neurons_before == program.gates and found.neurons_after <= program.gates
    assert len(found.steps) >= found.neurons_before - found.neurons_after
    atlas = pf.unfold(program, case.domain)
    before = from_program(program)
    for cell in range(min(len(atlas), 12)):
        point = atlas.rational_witness(cell)
        x = [list(_lifted(case.domain, point))]
        assert (before.evaluate(x) == found.program.evaluate(x)).all()
    if found.difference < np.inf and case.domain.dim <= 4:
        assert confirmed(found, max_seconds=20).word in ("equal", "unknown")


def _lifted(domain, point):
    from polyfold.exact.rational_arrays import product, rationals

    if not domain.is_slice:
        return point
    return rationals(domain.origin) + product(rationals(domain.basis), rationals(list(point)))


@pytest.mark.parametrize("seed", range(6))
def test_points_of_random_floats(seed):
    """Weights of 53 bits: what is merged is rounded once, and the bound on that holds at 10,000 points."""
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(6, 3)), rng.normal(size=6)
    V, c = rng.normal(size=(5, 12)), rng.normal(size=5)
    layers = [(np.vstack([W, 2 * W]), np.concatenate([b, 2 * b])), (V, c + 40), (rng.normal(size=(2, 5)), [0.0, 1.0])]
    found = pf.reduce(layers, pf.box(-1, 1))
    assert found.neurons_after <= 6 and not found.exact and 0 < found.difference < 1e-10
    X = rng.uniform(-1, 1, size=(10_000, 3))
    np.testing.assert_allclose(found.network(X), pf.load(layers)(X), rtol=0, atol=1e-10)
    assert confirmed(found).word == "equal"
    assert found.guarantee.startswith("the same function up to ") and found.guarantee.endswith(", proved")


def test_rounding_on_all_of_space():
    layers = [([[1.0], [2.0]], [0.0, 0.0]), ([[0.1, 0.3]], [0.0])]
    found = pf.reduce(layers)
    assert found.neurons_after == 1 and not found.exact and found.difference == np.inf and found.proved
    X = np.linspace(-1e6, 1e6, 1001)[:, None]
    bound = found.relative_difference * (1 + np.abs(X))
    # Both sides are evaluated in floats as well, hence twice the bound and a little.
    assert (np.abs(found.network(X) - pf.load(layers)(X)) <= 4 * bound).all() and found.relative_difference < 1e-14
    exact = pf.reduce(layers, rounding="never")
    assert exact.neurons_after == 2 and exact.exact


@pytest.mark.parametrize("seed", range(10))
def test_never_rounding_is_exact(seed):
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(8, 2)), rng.normal(size=8)), (rng.normal(size=(6, 8)), rng.normal(size=6) + 2)]
    layers.append((rng.normal(size=(2, 6)), rng.normal(size=2)))
    found = pf.reduce(layers, pf.box(0, 1), rounding="never")
    assert found.exact and found.difference == 0 and pf.equivalent(layers, found.network, pf.box(0, 1))


def test_skips_save_neurons():
    rng = np.random.default_rng(1)
    W, b = rng.integers(-4, 5, size=(4, 3)).astype(float), np.zeros(4)
    active = rng.integers(-4, 5, size=(3, 3)).astype(float)
    layers = [(np.vstack([W, active]), np.concatenate([b, np.full(3, 100.0)]))]
    layers.append((rng.integers(1, 5, size=(5, 7)).astype(float), np.zeros(5)))
    chain, past = pf.reduce(layers, pf.box(-1, 1)), pf.reduce(layers, pf.box(-1, 1), skips=True)
    assert (chain.neurons_after, past.neurons_after) == (7, 4)
    assert {node.op.__class__.__name__ for node in past.network.nodes} == {"Linear", "Rectify", "Add"}
    assert pf.equivalent(layers, past.network, pf.box(-1, 1))


def test_connections_that_are_there_are_used():
    """In y = relu(x + 8) + relu(x) + x the first neuron is linear on [-1, 1], and y reads x anyway."""
    torch = pytest.importorskip("torch")

    class Residual(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = torch.nn.Linear(1, 2).double(), torch.nn.Linear(2, 1).double()
            with torch.no_grad():
                self.inner.weight[:], self.inner.bias[:] = 1.0, torch.tensor([8.0, 0.0])
                self.outer.weight[:], self.outer.bias[:] = 1.0, 0.0

        def forward(self, x):
            return self.outer(torch.relu(self.inner(x))) + x

    found = pf.reduce(pf.load(Residual(), input_shape=(1,)), pf.box(-1, 1))
    assert (found.neurons_before, found.neurons_after) == (2, 1) and found.exact
    assert pf.equivalent(pf.load(Residual(), input_shape=(1,)), found.network, pf.box(-1, 1))


@pytest.mark.parametrize("slope", [0.25, -0.5, -1.0, 2.0])
def test_leaky_relus(slope):
    """Multiples and opposites become one; LeakyReLUs that are never positive are linear, too."""
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(2, 7), torch.nn.LeakyReLU(slope), torch.nn.Linear(7, 2)).double()
    W = np.array([[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0], [1.0, -1.0], [3.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    b = np.array([0.5, 1.0, -0.5, 0.0, 50.0, -50.0, -50.0])
    with torch.no_grad():
        module[0].weight[:], module[0].bias[:] = torch.tensor(W), torch.tensor(b)
        module[2].weight[:] = torch.tensor(np.arange(14.0).reshape(2, 7) - 5)
    found = pf.reduce(pf.load(module), pf.box(-1, 1))
    assert found.neurons_after == 4 and confirmed(found).word == "equal"


def test_nothing_is_left_of_a_linear_function():
    """Figure 1 of paper 004: three opposite pairs that cancel."""
    W = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]]
    layers = [(W, [0.0] * 6), ([[1.0, -1.0, 1.0, -1.0, -1.0, 1.0]], [0.0])]
    found = pf.reduce(layers)
    assert found.neurons_after == 0 and found.exact
    assert (found.program.evaluate([[3, -7], [1, 1]]) == 0).all()


@pytest.mark.shared("models")
def test_split_relus_of_a_real_network():
    split, original = (pf.load(MODELS / f"rsplit_{name}.onnx") for name in ("split25", "orig"))
    found = pf.reduce(split, max_seconds=120)
    assert found.exact and [stage.width for stage in found.program.stages] == [128, 256, 256, 256]
    assert {step.kind for step in found.steps} == {"opposite"}
    X = np.random.default_rng(0).random((2_000, 784))
    np.testing.assert_allclose(found.network(X), split(X), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.network(X), original(X), rtol=0, atol=1e-4)
    assert {node.name for node in found.network.nodes} <= {node.name for node in split.nodes}


@pytest.mark.shared("models")
def test_acasxu_on_a_part_of_its_box():
    network = pf.load(MODELS / "acasxu_1_1.onnx")
    low, high = np.array([0.6, -0.5, -0.5, 0.45, -0.5]), np.array([0.68, 0.5, 0.5, 0.5, -0.45])
    found = pf.reduce(network, pf.box(low, high), max_seconds=10)
    assert found.neurons_before == 300 and found.neurons_after < 290 and found.proved
    X = np.random.default_rng(0).uniform(low, high, size=(10_000, 5))
    np.testing.assert_allclose(found.network(X), network(X), rtol=0, atol=1e-9)


def test_a_trained_classifier():
    layers = mnist_l1()
    found = pf.reduce(layers, pf.box(0, 1))
    assert (found.layers_before, found.undecided) == ((100, 100), ())
    assert [stage.width for stage in found.program.stages] == [71, 76] and found.difference < 1e-11
    X = np.random.default_rng(0).random((2_000, 784))
    np.testing.assert_allclose(found.network(X), pf.load(layers)(X), rtol=0, atol=1e-10)


def test_torch_and_onnx_of_what_is_left(tmp_path):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    W, V = rng.integers(-4, 5, size=(4, 3)) / 4, rng.integers(1, 5, size=(2, 5)) / 4
    layers = [(np.vstack([W, W[:1] * 2]), np.zeros(5)), (V, np.zeros(2))]
    found = pf.reduce(layers)
    assert found.neurons_after < 5 and found.exact
    module = found.network.to_torch()
    assert [type(part) for part in module] == [torch.nn.Linear, torch.nn.ReLU, torch.nn.Linear]
    found.network.save_onnx(tmp_path / "smaller.onnx")
    for again in (pf.load(module), pf.load(tmp_path / "smaller.onnx")):
        assert pf.equivalent(layers, again)


def test_words_and_json():
    layers = [([[1.0], [2.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    found = pf.reduce(layers)
    assert repr(found).startswith("Reduction: 2 to 1 neuron; the same function, exactly, proved; ")
    assert str(found.steps[0]) == (
        "relu1[1]: it is 2 times relu1[0] before the activation (equal in rationals, coefficient by coefficient)"
    )
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["steps"][0]["into"] == ["relu1[0]"]


def test_bad_options():
    layers = [([[1.0]], [0.0]), ([[1.0]], [0.0])]
    for options, words in (({"rounding": "maybe"}, "rounding='maybe'"), ({"max_seconds": 0}, "max_seconds=0")):
        with pytest.raises(pf.PolyfoldError, match=words):
            pf.reduce(layers, **options)
    with pytest.raises(pf.PolyfoldError, match="empty"):
        pf.reduce(layers, pf.box(1, 0))


def test_programs_by_hand():
    """Rationals that are no floats stay what they are."""
    from flint import fmpq

    program = from_layers([([[fmpq(1, 3)], [fmpq(2, 3)]], [0, 0]), ([[1, 1]], [fmpq(1, 7)])])
    assert program.evaluate([[fmpq(3, 5)]])[0, 0] == fmpq(1, 5) + fmpq(2, 5) + fmpq(1, 7)
    assert not program.in_floats and program.to_program().rounded


def test_without_any_time_the_network_stays_as_it_was():
    layers = [([[1.0], [2.0], [1.0]], [0.0, 0.0, -9.0]), ([[1.0, 1.0, 1.0]], [0.0])]
    found = pf.reduce(layers, pf.box(-1, 1), max_seconds=1e-9)
    assert not found.complete and found.stopped_by == "max_seconds"
    assert found.neurons_after == found.neurons_before == len(found.undecided) == 3 and not found.steps
    assert found.proved and found.exact and "the same function, exactly, proved" in repr(found)
    assert found.evidence.stopped_by == "max_seconds" and not found.evidence.complete
    assert pf.equivalent(layers, found)

"""Scopes "baseline" and "interventional": against the definition in fractions, shap's ExactExplainer, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.shapley_oracles import by_all_hybrids, exact_values, layers_of
from polyfold.errors import DomainError, LimitError, PolyfoldError, ShapeError
from polyfold.explain.shapley.permutations import gain_ranges
from polyfold.explain.shapley.references import by_terms
from polyfold.explain.shapley.structure import structure
from polyfold.program.lower.lower import lower
from polyfold.testing import Case
from polyfold.testing.strategies import cases

PROMISED = 1e-9


@pytest.mark.parametrize("widths", [(1, 3, 1), (2, 5, 2), (3, 6, 4, 1), (5, 6, 5, 3, 2)])
def test_against_the_definition_in_fractions(widths: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(widths))
    layers = layers_of(rng, *widths)
    X, B = rng.normal(size=(4, widths[0])), rng.normal(size=(3, widths[0]))
    expected = np.array([[exact_values(layers, x, b) for b in B] for x in X])
    baseline = pf.explain.shapley(layers, X, background=B[0], scope="baseline")
    assert np.abs(baseline.values - expected[:, 0]).max() < PROMISED and baseline.exact
    averaged = pf.explain.shapley(layers, X, background=B, scope="interventional")
    assert np.abs(averaged.values - expected.mean(axis=1)).max() < PROMISED
    assert np.allclose(averaged.base_values, pf.load(layers)(B).mean(axis=0), rtol=0, atol=PROMISED)
    assert averaged.efficiency_error.max() < PROMISED


@pytest.mark.parametrize("n", [2, 4, 7, 10])
def test_against_the_exact_explainer(n: int) -> None:
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(n)
    network = pf.load(layers_of(rng, n, 12, 8, 2))
    X, B = rng.normal(size=(3, n)), rng.normal(size=(6, n))
    for background, scope in ((B[:1], "baseline"), (B, "interventional")):
        theirs = shap.explainers.Exact(network, shap.maskers.Independent(background, max_samples=len(background)))(X)
        ours = pf.explain.shapley(network, X, background=background, scope=scope)
        assert np.abs(ours.values - theirs.values).max() < PROMISED
        assert np.abs(ours.base_values - theirs.base_values).max() < PROMISED


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=5))
def test_generated_networks_against_all_hybrids(case: Case) -> None:
    rng = np.random.default_rng(0)
    # Small whole numbers meet walls, and features that are the same in both.
    X, B = (rng.integers(-2, 3, size=(2, case.program.input_dim)).astype(float) for _ in range(2))

    def f(points: Any) -> Any:
        return case.program.evaluate(points)[0]

    found = pf.explain.shapley(case.program, X, background=B, scope="interventional")
    expected = np.array([[by_all_hybrids(f, x, b) for b in B] for x in X]).mean(axis=1)
    assert np.abs(found.values - expected).max() <= PROMISED * max(1.0, found.scale.max())
    for x in X:
        for b in B:
            terms = by_terms(case.program, x, b, structure(case.program, x, b))
            assert np.abs(terms - by_all_hybrids(f, x, b)).max() <= PROMISED * max(1.0, found.scale.max())


def test_more_features_than_a_block_holds() -> None:
    rng = np.random.default_rng(0)
    network = pf.load(layers_of(rng, 14, 10, 6, 2))
    x, b = rng.normal(size=(2, 14))
    b[3] = x[3]
    found = pf.explain.shapley(network, x[None], background=b, scope="baseline")
    assert np.abs(found.values[0] - by_all_hybrids(network, x, b)).max() < PROMISED
    assert not found.values[0, 3].any()


def test_small_games_of_a_network_with_many_features() -> None:
    """Fourteen networks of three features side by side, added up: the values are those of the small networks."""
    rng = np.random.default_rng(1)
    small = [layers_of(rng, 3, 4, 2, 1) for _ in range(14)]
    W1, b1 = _side_by_side([net[0] for net in small])
    W2, b2 = _side_by_side([net[1] for net in small])
    W3, b3 = np.concatenate([net[2][0] for net in small], axis=1), sum(net[2][1] for net in small)
    X, B = rng.normal(size=(2, 42)), rng.normal(size=(2, 42))
    found = pf.explain.shapley(
        [(W1, b1), (W2, b2), (W3, b3)], X, background=B, scope="interventional", max_coalitions=200
    )
    for x, values in zip(X, found.values, strict=True):
        expected = [
            np.mean([exact_values(net, x[3 * k : 3 * k + 3], b[3 * k : 3 * k + 3]) for b in B], axis=0)
            for k, net in enumerate(small)
        ]
        assert np.abs(values - np.concatenate(expected)).max() < PROMISED
    assert found.exact


def _side_by_side(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    from scipy.linalg import block_diag

    return block_diag(*(W for W, _ in parts)), np.concatenate([b for _, b in parts])


def test_terms_share_features_and_gates_share_terms() -> None:
    """Gates that touch overlapping triples of twenty features; deeper ones that read two of these and the inputs."""
    rng = np.random.default_rng(5)
    W, V = np.zeros((15, 20)), np.zeros((8, 15))
    for row in W:
        row[rng.choice(20, 3, replace=False)] = rng.normal(size=3)
    for row in V:
        row[rng.choice(15, 2, replace=False)] = rng.normal(size=2)
    layers = [(W, rng.normal(size=15)), (V, rng.normal(size=8)), (rng.normal(size=(2, 8)), rng.normal(size=2))]
    program = lower(pf.load(layers))
    x, b = rng.normal(size=(2, 20))
    b[14:] = x[14:]  # so that fourteen are left for the definition
    assert 0 < structure(program, x, b).coalitions < 2**10
    found = pf.explain.shapley(program, x[None], background=b, scope="baseline", max_coalitions=2**10)

    def f(points: Any) -> Any:
        return program.evaluate(np.concatenate([points, np.tile(b[14:], (len(points), 1))], axis=1))[0]

    assert np.abs(found.values[0, :14] - by_all_hybrids(f, x[:14], b[:14])).max() < PROMISED
    assert not found.values[0, 14:].any()


def test_between_points_of_one_cell_the_formula_is_closed() -> None:
    rng = np.random.default_rng(2)
    network = pf.load(layers_of(rng, 100, 30, 20, 3))
    x = rng.normal(size=100)
    b = x + 1e-6 * rng.normal(size=100)
    found = pf.explain.shapley(network, x[None], background=b, scope="baseline", max_coalitions=1)
    A = pf.local(network, x[None]).A[0]
    assert found.exact and np.abs(found.values[0] - (A * (x - b)).T).max() < 1e-15


def test_a_max_pool_and_a_convolution() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 2), torch.nn.MaxPool2d(2, 1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(2, 2)
    ).double()
    network = pf.load(model, input_shape=(1, 3, 3))
    rng = np.random.default_rng(0)
    X, b = rng.normal(size=(2, 1, 3, 3)), rng.normal(size=(1, 3, 3))
    found = pf.explain.shapley(network, X, background=b, scope="baseline")
    for x, values in zip(X, found.values, strict=True):
        assert np.abs(values - by_all_hybrids(network, x.ravel(), b.ravel())).max() < PROMISED


def test_what_takes_too_long_is_refused_and_says_what_to_do() -> None:
    rng = np.random.default_rng(3)
    network = pf.load(layers_of(rng, 40, 30, 1))
    x, b = rng.normal(size=(2, 40))
    with pytest.raises(LimitError, match=r"differ in 40 features.*2\^40.*estimate=1000.*max_coalitions"):
        pf.explain.shapley(network, x[None], background=b, scope="baseline")


@pytest.mark.parametrize("references", [1, 3])
def test_estimates_keep_their_bounds(references: int) -> None:
    rng = np.random.default_rng(4)
    network = pf.load(layers_of(rng, 9, 12, 6, 2))
    X, B = rng.normal(size=(2, 9)), rng.normal(size=(references, 9))
    scope: Any = "baseline" if references == 1 else "interventional"
    exact = pf.explain.shapley(network, X, background=B, scope=scope)
    for seed in range(20):
        found = pf.explain.shapley(network, X, background=B, scope=scope, max_coalitions=8, estimate=400, seed=seed)
        assert found.estimate is not None and not found.exact and "estimated" in repr(found)
        assert found.estimate.permutations == 400 and found.efficiency_error.max() < PROMISED
        off = np.abs(found.values - exact.values)
        # With probability 0.99 each; the bounds have room, so that none of these is off.
        assert (off <= found.estimate.error).all() and off.max() > PROMISED
    more = pf.explain.shapley(network, X, background=B, scope=scope, max_coalitions=8, estimate=40_000)
    assert more.estimate is not None and more.estimate.error.max() < found.estimate.error.max() / 3
    again = pf.explain.shapley(network, X, background=B, scope=scope, max_coalitions=8, estimate=400, seed=19)
    assert np.array_equal(again.values, found.values)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=5))
def test_gains_stay_in_their_range(case: Case) -> None:
    rng = np.random.default_rng(1)
    x, b = rng.normal(size=(2, case.program.input_dim))
    ranges, n = gain_ranges(case.program, x, b), len(x)
    masks = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    outputs = case.program.evaluate(np.where(masks, x, b))[0]
    size = max(1.0, float(np.abs(outputs).max()))
    for i in range(n):
        inside = np.flatnonzero(masks[:, i])
        gains = outputs[inside] - outputs[inside ^ (1 << i)]
        assert (np.ptp(gains, axis=0) <= ranges[i] + PROMISED * size).all()


def test_features_that_are_alike_get_the_same() -> None:
    layers = [([[1.0, 1.0, 0.0], [-2.0, -2.0, 1.0]], [0.5, 1.0]), ([[1.0, 3.0]], [0.0])]
    values = pf.explain.shapley(layers, [[1.0, 1.0, 2.0]], background=np.zeros(3), scope="baseline").values[0, :, 0]
    assert values[0] == pytest.approx(values[1], abs=1e-15)


def test_bad_input() -> None:
    layers = layers_of(np.random.default_rng(0), 3, 4, 2)
    X, b = np.zeros((2, 3)), np.ones(3)
    with pytest.raises(PolyfoldError, match=r"scope must be one of .*, got 'cells'"):
        pf.explain.shapley(layers, X, background=b, scope="cells")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"\[1, .\] is (nan|inf|-inf)"):
        pf.explain.shapley(layers, [[0, 0, 0], [0, np.nan, 0]], background=b, scope="baseline")
    with pytest.raises(ShapeError, match=r"rows of 3 numbers.*\(2, 4\)"):
        pf.explain.shapley(layers, np.zeros((2, 4)), background=b, scope="baseline")
    with pytest.raises(ShapeError, match=r"one reference of 3 numbers.*\(2, 3\).*interventional"):
        pf.explain.shapley(layers, X, background=np.zeros((2, 3)), scope="baseline")
    with pytest.raises(ShapeError, match=r"\[0, .\] is (nan|inf|-inf)"):
        pf.explain.shapley(layers, X, background=[np.inf, 0, 0], scope="baseline")
    with pytest.raises(PolyfoldError, match="needs one input as background="):
        pf.explain.shapley(layers, X, scope="baseline")
    with pytest.raises(PolyfoldError, match="'uniform'"):
        pf.explain.shapley(layers, X, background="uniform", scope="interventional")
    with pytest.raises(PolyfoldError, match="means= is for scope='cell'"):
        pf.explain.shapley(layers, X, background=b, means=b, scope="baseline")
    with pytest.raises(ShapeError, match="no points"):
        pf.explain.shapley(layers, X, background=np.zeros((0, 3)), scope="interventional")
    with pytest.raises(LimitError, match="estimate=0"):
        pf.explain.shapley(layers, X, background=b, scope="baseline", estimate=0)
    with pytest.raises(LimitError, match=r"confidence=1\.5"):
        pf.explain.shapley(layers, X, background=b, scope="baseline", confidence=1.5)
    with pytest.raises(PolyfoldError, match="seed=-1"):
        pf.explain.shapley(layers, X, background=b, scope="baseline", seed=-1)
    with pytest.raises(ShapeError, match="3 features; these are the names"):
        pf.explain.shapley(layers, X, background=b, scope="baseline", feature_names=["a"])
    line = pf.unfold(layers, pf.line(np.zeros(3), np.ones(3)))
    with pytest.raises(DomainError, match="leave the slice"):
        pf.explain.shapley(line, X, background=b, scope="baseline")
    assert len(pf.explain.shapley(layers, np.zeros((0, 3)), background=b, scope="baseline")) == 0

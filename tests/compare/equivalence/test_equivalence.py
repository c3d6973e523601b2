"""Whether two networks are the same function: known cases, rewrites, errors, and what a result says."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

import polyfold as pf
from helpers.network_rewrites import copy, nudged, random_layers, rewritten
from helpers.slow_params import quick_then_slow
from polyfold.errors import DomainError, LimitError, NetworkError, ShapeError
from polyfold.exact.rational import rational
from polyfold.program.lower.lower import lower
from polyfold.program.passes.rationals import evaluate_exactly

ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
IDENTITY = [([[1.0]], [0.0])]


def exact_outputs(network, point):
    found = evaluate_exactly(
        lower(pf.load(network)), [rational(0.0) + p.numerator / rational(1.0) / p.denominator for p in point]
    )
    return [Fraction(int(x.p), int(x.q)) for x in found.outputs]


def largest_of_three(order):
    """max of three inputs, two of them first."""
    i, j, k = order
    first = np.zeros((5, 3))
    first[0, j], first[0, i] = 1, -1  # relu(x_j - x_i) + x_i is the larger one
    for row, (index, sign) in enumerate([(i, 1), (i, -1), (k, 1), (k, -1)], start=1):
        first[row, index] = sign
    larger = np.array([1.0, 1, -1, 0, 0])
    third = np.array([0.0, 0, 0, 1, -1])
    second = np.stack([third - larger, larger, -larger])
    return [(first, np.zeros(5)), (second, np.zeros(3)), (np.array([[1.0, 1.0, -1.0]]), np.zeros(1))]


# -- verdicts that are known


def test_a_network_is_itself():
    result = pf.equivalent(ABSOLUTE, ABSOLUTE)
    assert result and result.word == "equal" and result.exact
    assert (result.max_difference, result.upper, result.point) == (0, 0, None)
    assert result.certificate is not None and result.certificate.level == "certified"


def test_two_orders_of_a_maximum_are_one_function():
    """No gate of the one is a gate of the other: only the cells tell."""
    a, b = largest_of_three([0, 1, 2]), largest_of_three([1, 2, 0])
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert np.allclose(pf.load(a)(X)[:, 0], X.max(axis=1)) and np.allclose(pf.load(b)(X)[:, 0], X.max(axis=1))
    for domain in (None, pf.box(-1, 2), pf.slice_of([0.5, 0, 0], [[1.0, 0], [0, 1], [1, 1]])):
        result = pf.equivalent(a, b, domain)
        assert result.word == "equal" and "cell by cell" in result.method
        assert result.certificate is not None and result.certificate.level == "certified"
    wrong = copy(b)
    wrong[0][0][0, 1] = -1.5
    assert pf.equivalent(a, wrong).word == "different"


def test_the_same_on_a_part_only():
    assert pf.equivalent(ABSOLUTE, IDENTITY, pf.box(0, 5)).word == "equal"
    assert pf.equivalent(ABSOLUTE, IDENTITY, pf.box(0, np.inf)).word == "equal"
    result = pf.equivalent(ABSOLUTE, IDENTITY, pf.box(-0.25, 5))
    assert (result.word, result.max_difference, result.point) == ("different", Fraction(1, 2), (Fraction(-1, 4),))


def test_a_difference_that_grows_for_ever():
    result = pf.equivalent(ABSOLUTE, IDENTITY, tolerance=1000)
    assert (result.word, result.max_difference, result.exact) == ("different", inf, True)
    one, two = exact_outputs(ABSOLUTE, result.point), exact_outputs(IDENTITY, result.point)
    assert abs(one[0] - two[0]) > 1000


def test_a_difference_that_stays_bounded_on_all_of_space():
    """relu(x) - relu(x - 3) goes from 0 to 3 and stays there."""
    step = [([[1.0], [1.0]], [0.0, -3.0]), ([[1.0, -1.0]], [0.0])]
    zero = [([[0.0]], [0.0])]
    result = pf.equivalent(step, zero)
    assert (result.word, result.max_difference, result.exact) == ("different", 3, True)
    assert pf.equivalent(step, zero, tolerance=3).word == "equal"
    assert pf.equivalent(step, zero, tolerance=Fraction(299, 100)).word == "different"


def test_tolerance_is_met_exactly():
    third = [([[1.0]], [0.1])]
    gap = Fraction(0.1)
    for domain in (None, pf.box(-1, 1)):
        assert pf.equivalent(IDENTITY, third, domain, tolerance=gap).word == "equal"
        assert pf.equivalent(IDENTITY, third, domain, tolerance=0.1).word == "equal"
        below = pf.equivalent(IDENTITY, third, domain, tolerance=gap - Fraction(1, 10**40))
        assert (below.word, below.max_difference, below.exact) == ("different", gap, True)


def test_differences_too_small_for_floats():
    """1 + 2**-80 x against 1: a float sum cannot tell them apart."""
    a = [([[2.0**-80]], [1.0]), ([[1.0]], [0.0])]
    b = [([[0.0]], [1.0]), ([[1.0]], [0.0])]
    result = pf.equivalent(a, b, pf.box(-1, 1))
    assert (result.word, result.max_difference, result.exact) == ("different", Fraction(1, 2**80), True)
    assert pf.equivalent(a, b, pf.box(-1, 1), tolerance=2.0**-80).word == "equal"


def test_biases_that_floats_cannot_subtract():
    a, b = [([[1.0]], [1e20])], [([[1.0]], [1.0])]
    assert pf.equivalent(a, b).max_difference == 10**20 - 1


def test_the_zero_network_of_figure_1_in_paper_4():
    """x + y - (x + y), each as a difference of two ReLUs; and a copy that is not zero."""
    gates = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
    network = [(gates, np.zeros(6)), ([[1.0, -1.0, 1.0, -1.0, -1.0, 1.0]], [0.0])]
    zero = [([[0.0, 0.0]], [0.0])]
    assert pf.equivalent(network, zero)
    assert pf.equivalent([network[0], ([[1.0, -1.0, 1.0, -1.0, -1.0, 1.5]], [0.0])], zero).word == "different"


def test_every_output_by_itself():
    a = [(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]
    b = [(np.eye(2), np.zeros(2)), (np.diag([1.0, 1.5]), np.zeros(2))]
    result = pf.equivalent(a, b, pf.box(-1, [2, 4]))
    assert [one.largest for one in result.by_output] == [0, 2]
    assert all(one.exact for one in result.by_output)
    assert result.by_output[0].point is None and result.point[1] == 4


def test_lines_and_planes():
    a, b = largest_of_three([0, 1, 2]), [([[1.0, 0.0, 0.0]], [0.0])]
    result = pf.equivalent(a, b, pf.line([0, 0, 0], [1, 2, 4]))
    assert (result.word, result.max_difference, result.point) == ("different", 3, (1, 2, 4))
    assert pf.equivalent(a, b, pf.plane([0, 0, 0], [1, 0, 0], [1, 0.5, 0]))


def test_networks_without_gates():
    a, b = [([[1.0, 2.0]], [0.0])], [([[1.0, 2.5]], [0.0])]
    assert pf.equivalent(a, b, pf.box(-1, 1)).max_difference == Fraction(1, 2)
    assert pf.equivalent(a, b).max_difference == inf
    assert pf.equivalent(a, a)


def test_different_depths_slopes_and_frameworks():
    torch = pytest.importorskip("torch")
    from sklearn.neural_network import MLPRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    regressor = MLPRegressor(hidden_layer_sizes=(5,), max_iter=20, random_state=0).fit(X, X[:, 0])
    layers = [(W.T, b) for W, b in zip(regressor.coefs_, regressor.intercepts_, strict=True)]
    module = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1)).double()
    with torch.no_grad():
        for linear, (W, b) in zip((module[0], module[2]), layers, strict=True):
            linear.weight[:], linear.bias[:] = torch.tensor(W), torch.tensor(b)
    assert pf.equivalent(regressor, module)
    assert pf.equivalent(module, rewritten(rng, layers, 6))
    leaky = torch.nn.Sequential(module[0], torch.nn.LeakyReLU(0.25), module[2])
    # 0.25 z + 0.75 relu(z), with z passed on as relu(z) - relu(-z)
    (W, b), (V, c) = layers
    by_hand = [(np.concatenate([W, -W]), np.concatenate([b, -b])), (np.concatenate([V, -0.25 * V], axis=1), c)]
    assert pf.equivalent(leaky, by_hand)
    assert pf.equivalent(leaky, module, pf.box(-3, 3)).word == "different"


# -- rewrites


@pytest.mark.parametrize("batch", quick_then_slow(range(4), quick=2))
def test_rewrites_are_equal_and_a_changed_weight_is_what_exact_evaluation_says(batch):
    changed = 0
    for seed in range(batch, 60, 4):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 4))
        layers = random_layers(rng, d, *rng.integers(2, 6, size=rng.integers(1, 3)), int(rng.integers(1, 3)))
        if seed % 3 == 0:
            layers = [(np.rint(2 * W) / 2, np.rint(b)) for W, b in layers]
        domain = None if seed % 2 else pf.box(-2, 2)
        result = pf.equivalent(layers, rewritten(rng, layers, 5), domain)
        assert result.word == "equal" and result.certificate.level == "certified", (seed, result)
        other = rewritten(rng, nudged(rng, layers), 2)
        result = pf.equivalent(layers, other, domain)
        assert result.word != "unknown" and result.exact, (seed, result)
        changed += result.word == "different"
        if result.word == "different":
            gap = max(
                abs(x - y) for x, y in zip(*(exact_outputs(n, result.point) for n in (layers, other)), strict=True)
            )
            assert gap > 0 and (gap == result.max_difference or result.max_difference == inf)
        else:
            X = rng.uniform(-2, 2, size=(2000, d))
            assert np.abs(pf.load(layers)(X) - pf.load(other)(X)).max() < 1e-12
    assert changed > 8


# -- what a result says


def test_unknown_is_loud_and_not_true():
    rng = np.random.default_rng(0)
    a = random_layers(rng, 6, 40, 40, 1)
    b = copy(a)
    # The same to the last digit, in a way that only the cells tell: behind max(x, y) and max(y, x), one a gate deeper.
    third = largest_of_three([0, 1, 2]), largest_of_three([1, 2, 0])
    nets = [_added(layers, network) for layers, network in zip((a, b), third, strict=True)]
    result = pf.equivalent(*nets, pf.box(-5, 5), max_seconds=2)
    assert result.word == "unknown" and result.verdict == "unknown"
    with pytest.raises(pf.errors.UnknownError, match="more time"):
        bool(result)
    assert "UNKNOWN" in repr(result) and "max_seconds" in result.stopped_by
    assert result.max_difference == 0 and result.upper > 0 and result.point is None
    assert result.certificate is None


def _added(layers, network):
    """The sum of a network with two hidden layers and one of three of its inputs."""
    (W1, b1), (W2, b2), (W3, b3) = layers
    (V1, c1), (V2, c2), (V3, c3) = network
    padded = np.concatenate([V1, np.zeros((len(c1), W1.shape[1] - V1.shape[1]))], axis=1)
    both = np.block([[W2, np.zeros((len(b2), len(c1)))], [np.zeros((len(c2), len(b1))), V2]])
    return [
        (np.concatenate([W1, padded]), np.concatenate([b1, c1])),
        (both, np.concatenate([b2, c2])),
        (np.concatenate([W3, V3], axis=1), b3 + c3),
    ]


def test_json():
    found = pf.equivalent(ABSOLUTE, IDENTITY, pf.box(-1, 1)).to_json()
    assert (found["word"], found["max_difference"], found["max_difference_is_exact"]) == ("different", 2.0, True)
    assert (found["point"], found["point_as_fractions"], found["tolerance"]) == ([-1.0], ["-1"], 0.0)
    assert found["bounds"] == {"lower": 2.0, "upper": 2.0}
    assert found["certificate"] == "certified"
    assert pf.equivalent(ABSOLUTE, IDENTITY).to_json()["max_difference"] == "infinity"


def test_x_is_the_point_in_floats():
    result = pf.equivalent(ABSOLUTE, IDENTITY, pf.box(-1, 1))
    assert result.x.tolist() == [-1.0]
    assert pf.equivalent(ABSOLUTE, ABSOLUTE).x is None


# -- bad input


def test_shapes_that_do_not_agree_are_quoted():
    with pytest.raises(ShapeError, match=r"1 input \(shape .*the second takes 2 inputs"):
        pf.equivalent(IDENTITY, [([[1.0, 1.0]], [0.0])])
    with pytest.raises(ShapeError, match=r"gives 1 output .*gives 2 outputs"):
        pf.equivalent(IDENTITY, [([[1.0], [1.0]], [0.0, 0.0])])


@pytest.mark.parametrize("tolerance", [-1, -0.5, float("nan"), inf, "much", None, True, 1j])
def test_odd_tolerances(tolerance):
    with pytest.raises(pf.PolyfoldError, match="must be a finite number, 0 or larger") as raised:
        pf.equivalent(IDENTITY, IDENTITY, tolerance=tolerance)
    assert repr(tolerance) in str(raised.value)


def test_other_bad_input():
    with pytest.raises(LimitError, match="max_seconds=0"):
        pf.equivalent(IDENTITY, IDENTITY, max_seconds=0)
    with pytest.raises(LimitError, match="max_cells=0"):
        pf.equivalent(IDENTITY, IDENTITY, max_cells=0)
    with pytest.raises(LimitError, match="threads=-1"):
        pf.equivalent(IDENTITY, IDENTITY, threads=-1)
    with pytest.raises(NetworkError):
        pf.equivalent(IDENTITY, "nowhere.onnx")
    with pytest.raises(DomainError):
        pf.equivalent(IDENTITY, IDENTITY, pf.box(1, -1))
    empty = pf.polytope([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], [0.0, -1.0, 3.0])
    flat = pf.polytope([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], [0.0, 0.0, 3.0])
    plus = [([[1.0, 1.0]], [0.0])]
    with pytest.raises(DomainError, match="is empty"):
        pf.equivalent(plus, plus, empty)
    with pytest.raises(DomainError, match="has no interior"):
        pf.equivalent(plus, plus, flat)

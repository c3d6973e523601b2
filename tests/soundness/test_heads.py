"""The head is part of the function: no model is called equal to one whose softmax, sigmoid or argmax differs.

Networks are small, with weights that are multiples of 1/8, so that `scores`, in fractions, knows them at any rational
point. What comes out behind a head is judged by that oracle where it is exact (classes, differences of scores)
and by onnxruntime, on the exported models, where it is not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.confirming import confirmed
from helpers.slow_params import quick_then_slow
from polyfold.network.graph import Network
from polyfold.network.head import Head, HeadOp, OutputHead

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

BOX = pf.box(-2, 2)
GRID = [tuple(map(Fraction, point)) for point in product((-2, -1, Fraction(-1, 3), 0, Fraction(1, 2), 1, 2), repeat=2)]

Layers = list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


# -- models and oracles


def layers(rng: np.random.Generator, outputs: int) -> Layers:
    sizes = [2, 4, outputs]
    return [(rng.integers(-12, 13, size=(m, n)) / 8.0, rng.integers(-12, 13, size=m) / 8.0) for n, m in pairwise(sizes)]


def head(kind: str, count: int, *, last: bool = False) -> Head | None:
    if kind == "identity":
        return None
    op = HeadOp.along(kind, (count,), (0,), last=last)  # type: ignore[arg-type]
    return Head((OutputHead(count, (op,), (op.gives,)),))


def model(of: Layers, kind: str, **options: Any) -> Network:
    return replace(pf.load(of), head=head(kind, len(of[-1][1]), **options))


def scores(of: Layers, x: tuple[Fraction, ...]) -> list[Fraction]:
    """The network in fractions."""
    values = list(x)
    for number, (weight, bias) in enumerate(of):
        values = [
            sum((Fraction(w) * v for w, v in zip(row, values, strict=True)), Fraction(b))
            for row, b in zip(weight.tolist(), bias.tolist(), strict=True)
        ]
        if number < len(of) - 1:
            values = [max(v, Fraction(0)) for v in values]
    return values


def winner(values: list[Fraction], last: bool = False) -> int:
    best = max(values)
    return max(k for k, v in enumerate(values) if v == best) if last else values.index(best)


def by_runtime(network: Network, X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    session = onnxruntime.InferenceSession(network.to_onnx().SerializeToString())
    return np.asarray(session.run(None, {session.get_inputs()[0].name: X})[0], dtype=np.float64).reshape(len(X), -1)


def shifted(of: Layers, by: Layers | None = None, constant: float = 0.0) -> Layers:
    """The same scores plus one number for all of them: a constant, or a multiple of the first hidden neuron."""
    weight, bias = of[-1]
    moved = weight.copy()
    if by is not None:
        moved[:, 0] += by[-1][0][0, 0]
    return [*of[:-1], (moved, bias + constant)]


def reordered(of: Layers) -> Layers:
    """The same function with its hidden neurons in another order, one of them twice as large."""
    (W, b), (V, c) = of
    factors = np.array([2.0, 1.0, 4.0, 0.5])
    order = np.array([2, 0, 3, 1])
    return [((W * factors[:, None])[order], (b * factors)[order]), ((V / factors)[:, order], c)]


# -- generated pairs


def largest_gap(one: Network, two: Network) -> float:
    """What onnxruntime finds on a grid and at random points."""
    X = np.concatenate(
        [np.array([[float(v) for v in x] for x in GRID]), np.random.default_rng(1).uniform(-2, 2, size=(400, 2))]
    )
    return float(np.abs(by_runtime(one, X) - by_runtime(two, X)).max())


SMOOTH = ("sigmoid", "log-sigmoid", "softmax", "log-softmax")


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("seed", range(5))
def test_the_same_scores_up_to_what_the_head_forgets(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    of = layers(rng, 3)
    one, other = model(of, kind), model(reordered(of), kind)
    assert pf.equivalent(one, other, BOX).word == "equal"

    moved = model(shifted(reordered(of), layers(rng, 3), 0.5), kind)
    found = pf.equivalent(one, moved, BOX)
    forgets = kind in ("softmax", "log-softmax")
    assert found.word == ("equal" if forgets else "different")
    assert "scores" in found.compared and kind in found.compared
    gap = largest_gap(one, moved)
    assert gap < 1e-12 if forgets else gap > 1e-3


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("seed", range(3))
def test_other_scores_are_different_at_a_point_that_shows_it(kind: str, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    of = layers(rng, 3)
    weight, bias = of[-1]
    changed = [*of[:-1], (weight, bias + np.array([0.0, 2.0**-20, 0.0]))]
    found = pf.equivalent(model(of, kind), model(changed, kind), BOX)
    assert found.word == "different" and found.point is not None
    here, there = scores(of, found.point), scores(changed, found.point)
    differences = {a - b for a, b in zip(here, there, strict=True)}
    assert len(differences) > 1 or (0 not in differences and "softmax" not in kind)


@pytest.mark.parametrize(
    ("one", "other"),
    [(a, b) for a in ("identity", *SMOOTH, "hardmax") for b in ("identity", *SMOOTH, "hardmax") if a < b],
)
def test_different_heads_are_different_with_a_point(one: str, other: str) -> None:
    of = layers(np.random.default_rng(7), 3)
    first, second = model(of, one), model(of, other)
    found = pf.equivalent(first, second, BOX)
    assert found.word == "different" and found.x is not None
    here = np.abs(first.model_outputs(found.x[None]) - second.model_outputs(found.x[None])).max()
    assert here == pytest.approx(float(found.max_difference), rel=1e-9)
    assert str(found.heads) != "(None, None)" and found.to_json()["heads"] != [None, None]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_argmaxes_by_exact_regions(seed: int, last: bool) -> None:
    rng = np.random.default_rng(200 + seed)
    of = layers(rng, 3)
    weight, bias = of[-1]
    one = model(of, "argmax", last=last)
    # Three times the scores, and a shift that depends on the input: other scores, the same classes.
    same = [*reordered(of)[:-1], (3 * reordered(of)[-1][0] + np.array([1.0, 0, 0, 0]), 3 * bias - 1.0)]
    found = pf.equivalent(one, model(same, "argmax", last=last), BOX)
    assert found.word == "equal", found
    assert all(winner(scores(of, x), last) == winner(scores(same, x), last) for x in GRID)
    assert found.compared == "the numbers of the classes"

    moved = [*of[:-1], (weight, bias + np.array([0.0, 0.25, 0.0]))]
    found = pf.equivalent(one, model(moved, "argmax", last=last), BOX)
    somewhere = [x for x in GRID if winner(scores(of, x), last) != winner(scores(moved, x), last)]
    if found.word == "different":
        assert found.point is not None
        assert winner(scores(of, found.point), last) != winner(scores(moved, found.point), last)
    assert found.word == "different" or not somewhere
    assert found.word != "unknown"


def coarse(rng: np.random.Generator, outputs: int) -> Layers:
    """Few different weights: walls coincide, and scores tie at many points."""
    sizes = [2, 3, outputs]
    return [(rng.integers(-3, 4, size=(m, n)) / 2.0, rng.integers(-3, 4, size=m) / 2.0) for n, m in pairwise(sizes)]


def relative(of: Layers, rng: np.random.Generator) -> Layers:
    """A network that is related to another one: nearly the same, the same up to what heads forget, or not at all."""
    (W, b), (V, c) = of
    chosen = rng.integers(5)
    if chosen == 0:
        return [(W, b), (V, c + np.eye(len(c))[0] * rng.choice([0.0, 0.5, 2.0**-30]))]
    if chosen == 1:
        return [(W, b), (V + rng.integers(-1, 2, size=(1, 3)), c + rng.integers(-2, 3))]
    if chosen == 2:
        return coarse(rng, len(c))
    if chosen == 3:
        return [(W[[2, 0, 1]] * 2, b[[2, 0, 1]] * 2), (V[:, [2, 0, 1]] / 2, c)]
    return [(W, b), (V * 2, c * 2)]


FINE = [(Fraction(i, 8), Fraction(j, 8)) for i in range(-8, 9) for j in range(-8, 9)]


def judge_coarse_pairs(seeds: range) -> dict[str, int]:
    """Ask for generated pairs, and have the answers judged; the number of each verdict."""
    verdicts = {"equal": 0, "different": 0, "unknown": 0}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        of = coarse(rng, int(rng.integers(2, 5)))
        to = relative(of, rng)
        kind = str(rng.choice(["identity", *SMOOTH, "hardmax", "argmax", "argmax"]))
        tolerance = float(rng.choice([0.0, 0.0, 0.01, 0.5, 2.0]))
        lasts = [bool(rng.random() < 0.3) for _ in range(2)] if kind == "argmax" else [False, False]
        one, other = (model(some, kind, last=last) for some, last in zip((of, to), lasts, strict=True))
        found = pf.equivalent(one, other, [BOX, None, pf.box(-1, 1)][seed % 3], tolerance=tolerance, max_seconds=10)
        verdicts[found.word] += 1

        def gap(
            x: tuple[Fraction, ...], of: Layers = of, to: Layers = to, kind: str = kind, lasts: Any = lasts
        ) -> float:
            """How far the outputs are apart at a point; exact for classes, and never 0 unless they are the same."""
            here, there = scores(of, x), scores(to, x)
            if kind in ("argmax", "hardmax"):
                one, two = winner(here, lasts[0]), winner(there, lasts[1])
                return abs(one - two) if kind == "argmax" else float(one != two)
            apart = {a - b for a, b in zip(here, there, strict=True)}
            if len(apart) == 1 and ("softmax" in kind or apart == {0}):
                return 0.0
            given = np.array([[float(v) for v in some] for some in (here, there)])
            outputs = given if kind == "identity" else head(kind, len(here))(given)  # type: ignore[misc]
            return max(float(np.abs(outputs[0] - outputs[1]).max()), 1e-300)

        if found.word == "equal":
            assert max(gap(x) for x in FINE) <= tolerance * (1 + 1e-9), (seed, found)
        elif found.word == "different":
            assert found.point is not None and gap(found.point) > tolerance * (1 - 1e-9), (seed, found)
            assert kind not in ("argmax", "hardmax") or gap(found.point) == found.max_difference, (seed, found)
        else:
            assert tolerance > 0, (seed, found)
    return verdicts


@pytest.mark.parametrize("count", quick_then_slow([40, 80], quick=1))
def test_coarse_pairs(count: int) -> None:
    verdicts = judge_coarse_pairs(range(count))
    each = count // 4
    assert verdicts["equal"] > each and verdicts["different"] > each and verdicts["unknown"] < count // 10, verdicts


@pytest.mark.slow
def test_many_coarse_pairs() -> None:
    verdicts = judge_coarse_pairs(range(80, 2000))
    assert verdicts["unknown"] < 200, verdicts


def of_three(*biases: float) -> Layers:
    """Scores that are these numbers, whatever the input is, but for a hidden neuron that adds to all of them."""
    return [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.full((3, 2), 0.5), np.array(biases))]


def test_hardmaxes_that_differ_are_one_apart() -> None:
    """The outputs are zeros and ones: classes 0 and 2 are one apart in two places, not two in one."""
    one, other = model(of_three(1.0, 0.0, 0.0), "hardmax"), model(of_three(0.0, 0.0, 1.0), "hardmax")
    found = pf.equivalent(one, other, pf.box(-1, 1))
    assert (found.word, found.max_difference, found.upper, found.compared) == ("different", 1, 1, "outputs")
    assert [(each.largest, each.upper) for each in found.by_output] == [(1, 1), (0, 1), (1, 1)] and found.point
    here, there = (each.head(each(np.array([[0.5]]))) for each in (one, other))
    assert np.abs(here - there).tolist() == [[1.0, 0.0, 1.0]]
    assert pf.equivalent(one, other, pf.box(-1, 1), tolerance=0.99).word == "different"
    assert pf.equivalent(one, other, pf.box(-1, 1), tolerance=1).word == "equal"
    # Argmaxes put the numbers of the classes out.
    classes = pf.equivalent(*(replace(each, head=head("argmax", 3)) for each in (one, other)), pf.box(-1, 1))
    assert (classes.max_difference, classes.upper, classes.compared) == (2, 2, "the numbers of the classes")
    same = pf.equivalent(one, model(of_three(2.0, 0.0, 0.5), "hardmax"), pf.box(-1, 1))
    assert same.word == "equal" and [each.upper for each in same.by_output] == [0, 0, 0]
    assert same.compared == "outputs"


def test_hardmaxes_that_differ_at_one_point_only() -> None:
    """Found by cells and at a tie, not by points: only at 0 all three scores are the same."""
    hidden = (np.array([[1.0], [-1.0]]), np.zeros(2))
    touching = [hidden, (np.array([[-1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]]), np.zeros(3))]
    below = [hidden, (np.array([[-1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]]), np.array([-0.5, -0.5, 0.0]))]
    found = pf.equivalent(model(touching, "hardmax"), model(below, "hardmax"), pf.box(-1, 1))
    assert (found.word, found.max_difference, found.point) == ("different", 1, (Fraction(0),))
    assert [each.largest for each in found.by_output] == [1, 0, 1] and found.compared == "outputs"
    assert pf.equivalent(model(touching, "argmax"), model(below, "argmax"), pf.box(-1, 1)).max_difference == 2


def test_hardmaxes_beside_each_other() -> None:
    """Two hardmaxes over three scores each, of which the second differs."""
    two = Head((OutputHead(6, (HeadOp("hardmax", (2, 3, 1)),), (2, 3)),))
    ones = [(np.array([[1.0]]), np.zeros(1)), (np.zeros((6, 1)), np.array([1.0, 0, 0, 1.0, 0, 0]))]
    other = [ones[0], (np.zeros((6, 1)), np.array([1.0, 0, 0, 0, 0, 1.0]))]
    found = pf.equivalent(*(replace(pf.load(each), head=two) for each in (ones, other)), pf.box(-1, 1))
    assert (found.word, found.max_difference, found.upper, found.compared) == ("different", 1, 1, "outputs")


def test_argmaxes_that_differ_at_ties_only() -> None:
    """Both choose 1 where x > 0 and 2 where x < 0; at 0 the first score of one model reaches the others."""
    hidden = (np.array([[1.0], [-1.0]]), np.zeros(2))
    touching = [hidden, (np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]]), np.zeros(3))]
    below = [hidden, (np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([-0.5, 0.0, 0.0]))]
    one, other = model(touching, "argmax"), model(below, "argmax")
    found = pf.equivalent(one, other, pf.box(-1, 1))
    assert found.word == "different" and found.point == (Fraction(0),)
    assert (winner(scores(touching, found.point)), winner(scores(below, found.point))) == (0, 1)
    assert by_runtime(one, np.zeros((1, 1)))[0, 0] == 0 and by_runtime(other, np.zeros((1, 1)))[0, 0] == 1
    # Where the first score stays below in both models, ties agree.
    lower = [hidden, (np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([-0.25, 0.0, 0.0]))]
    assert pf.equivalent(other, model(lower, "argmax"), pf.box(-1, 1)).word == "equal"


def test_who_wins_a_tie_counts() -> None:
    line = [(np.array([[0.0], [1.0]]), np.zeros(2))]
    found = pf.equivalent(model(line, "argmax"), model(line, "argmax", last=True), pf.box(-1, 1))
    assert found.word == "different" and found.point == (Fraction(0),)
    assert pf.equivalent(model(line, "argmax", last=True), model(line, "argmax", last=True)).word == "equal"


def test_an_argmax_behind_a_softmax_is_one() -> None:
    of = layers(np.random.default_rng(3), 3)
    ops = (HeadOp("softmax", (1, 3, 1)), HeadOp("argmax", (1, 3, 1)))
    both = replace(pf.load(of), head=Head((OutputHead(3, ops, (1,)),)))
    assert pf.equivalent(both, model(of, "argmax"), BOX).word == "equal"


def test_a_softmax_over_two_scores_is_a_sigmoid() -> None:
    rng = np.random.default_rng(11)
    two = layers(rng, 2)
    weight, bias = two[-1]
    one = [*two[:-1], (weight[1:] - weight[:1], bias[1:] - bias[:1])]
    one = [*one[:-1], (np.concatenate([-one[-1][0], one[-1][0]]), np.concatenate([-one[-1][1], one[-1][1]]))]
    found = pf.equivalent(model(two, "softmax"), model(one, "sigmoid"), BOX)
    assert found.word == "equal", found
    assert largest_gap(model(two, "softmax"), model(one, "sigmoid")) < 1e-12


def test_chains_of_ops_are_equal_if_their_scores_are() -> None:
    of = layers(np.random.default_rng(5), 3)
    ops = (HeadOp("sigmoid", (3, 1, 1)), HeadOp("softmax", (1, 3, 1)))
    chained = Head((OutputHead(3, ops, (3,)),))
    one, other = (replace(pf.load(some), head=chained) for some in (of, reordered(of)))
    assert pf.equivalent(one, other, BOX).word == "equal"
    moved = replace(pf.load(shifted(of, None, 0.5)), head=chained)
    found = pf.equivalent(one, moved, BOX)
    assert found.word == "different" and found.compared == "outputs"
    assert largest_gap(one, moved) > 1e-4


def test_groups_are_compared_each_by_itself() -> None:
    of = layers(np.random.default_rng(6), 6)
    weight, bias = of[-1]

    def grouped(some: Layers, groups: tuple[int, int, int]) -> Network:
        return replace(pf.load(some), head=Head((OutputHead(6, (HeadOp("softmax", groups),), (6,)),)))

    moved = [*of[:-1], (weight, bias + np.array([1.0, 1.0, 1.0, -2.0, -2.0, -2.0]))]
    assert pf.equivalent(grouped(of, (2, 3, 1)), grouped(moved, (2, 3, 1)), BOX).word == "equal"
    assert pf.equivalent(grouped(of, (1, 6, 1)), grouped(moved, (1, 6, 1)), BOX).word == "different"
    assert pf.equivalent(grouped(of, (2, 3, 1)), grouped(of, (1, 3, 2)), BOX).word == "different"


# -- tolerances


@pytest.mark.parametrize("kind", SMOOTH)
def test_a_tolerance_is_one_on_outputs(kind: str) -> None:
    of = layers(np.random.default_rng(21), 3)
    weight, bias = of[-1]
    near = [*of[:-1], (weight, bias + np.array([0.0, 0.125, 0.0]))]
    one, other = model(of, kind), model(near, kind)
    gap = largest_gap(one, other)
    found = pf.equivalent(one, other, BOX, tolerance=gap * 0.9)
    assert found.word == "different" and found.max_difference > gap * 0.9
    # By the slopes, 0.125 of a score are at most twice that behind any of these heads.
    assert pf.equivalent(one, other, BOX, tolerance=0.25).word == "equal"
    # What cannot be told from scores is neither called equal nor different.
    for factor in (1.01, 1.1, 1.5):
        close = pf.equivalent(one, other, BOX, tolerance=gap * factor)
        if close.word == "different":
            assert close.x is not None
            assert np.abs(by_runtime(one, close.x[None]) - by_runtime(other, close.x[None])).max() > gap * factor
        assert close.word != "unknown" or "tolerance" in str(close.stopped_by)


# -- where the issue was found


def test_a_sigmoid_is_not_nothing() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    b = [torch.nn.Linear(2, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2)]
    plain, ended = torch.nn.Sequential(*b), torch.nn.Sequential(*b, torch.nn.Sigmoid())
    found = pf.equivalent(plain, ended)
    assert found.word == "different" and found.x is not None
    with torch.no_grad():
        x = torch.as_tensor(found.x[None], dtype=torch.float32)
        assert float((plain(x) - ended(x)).abs().max()) > 1e-3
    assert pf.equivalent(ended, ended).word == "equal"
    box = pf.box(-1, 1)
    assert pf.compare.canonical(plain, box).digest != pf.compare.canonical(ended, box).digest
    assert pf.unfold(plain, box).certificate.network_digest != pf.unfold(ended, box).certificate.network_digest
    assert pf.compare.canonical(plain, box) != pf.compare.canonical(ended, box)


def test_reduce_writes_the_softmax(tmp_path: Any) -> None:
    rng = np.random.default_rng(2)
    W = rng.integers(-8, 9, size=(4, 2)) / 8.0
    of: Layers = [
        (np.concatenate([W, 2 * W[:1]]), np.concatenate([np.zeros(4), np.zeros(1)])),
        (rng.integers(-8, 9, size=(3, 5)) / 8.0, np.array([0.5, -0.5, 0.0])),
    ]
    given, out = tmp_path / "given.onnx", tmp_path / "out.onnx"
    model(of, "softmax").save_onnx(given, dtype=np.float32)
    command = [sys.executable, "-m", "polyfold", "reduce", str(given), "--out", str(out), "--json"]
    facts = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert facts["neurons_after"] < facts["neurons_before"]
    assert facts["guarantee"] == "the same function, exactly, proved"
    assert facts["head"][0]["words"] == "softmax over 3 scores"
    assert "Softmax" in {node.op_type for node in onnx.load(out).graph.node}
    X = rng.normal(size=(50, 2)).astype(np.float32)
    before, after = (
        session.run(None, {session.get_inputs()[0].name: X})[0]
        for session in (onnxruntime.InferenceSession(path) for path in (given, out))
    )
    np.testing.assert_allclose(after, before, atol=1e-6)
    assert pf.equivalent(given, out).word == "equal"


# -- everything that describes a network names its head


def test_what_speaks_of_scores_says_so() -> None:
    of = layers(np.random.default_rng(4), 3)
    network = model(of, "softmax")
    atlas = pf.unfold(network, BOX)
    for thing in (
        network,
        atlas,
        pf.compare.canonical(atlas),
        pf.rewrite.shallow(atlas),
        pf.equivalent(network, network),
    ):
        assert "softmax" in repr(thing)
    for found in (pf.stats.maximum(atlas, output=0), pf.stats.minimum(atlas, output=1), pf.stats.lipschitz(atlas)):
        assert found.of == "the scores before the softmax" and found.of in repr(found)
    explained = pf.explain.shapley(network, [[0.5, 0.5]], background=[[0.0, 0.0]])
    assert explained.of == "the scores before the softmax" and explained.of in repr(explained)
    assert pf.stats.maximum(pf.unfold(of, BOX), output=0).of == "the model's outputs"
    assert pf.stats.mean(pf.unfold(of, BOX), of="outputs").value.shape == (3,)
    asked = (
        lambda: pf.stats.mean(atlas, of="outputs").value,
        lambda: pf.stats.variance(atlas, of="outputs").value,
        lambda: pf.stats.maximum(atlas, output=0, of="outputs"),
        lambda: pf.stats.lipschitz(atlas, of="outputs"),
        lambda: pf.explain.shapley(network, [[0.5, 0.5]], background=[[0.0, 0.0]], of="outputs"),
    )
    for ask in asked:
        with pytest.raises(pf.PolyfoldError, match=r"softmax over 3 scores.*of='scores'"):
            ask()


def test_heads_are_kept_by_files_and_rewrites(tmp_path: Any) -> None:
    of = layers(np.random.default_rng(8), 3)
    network = model(of, "softmax")
    atlas = pf.unfold(network, BOX)
    atlas.save(tmp_path / "atlas.parquet")
    again = pf.open(tmp_path / "atlas.parquet")
    assert again.program.head == network.head and again.program.digest == atlas.program.digest
    X = np.random.default_rng(0).uniform(-2, 2, size=(40, 2))
    expected = network.model_outputs(X)
    np.testing.assert_allclose(pf.reduce(network, BOX).network.model_outputs(X), expected, atol=1e-12)
    assert confirmed(pf.reduce(network, BOX))
    moved = pf.symmetry.Permutation(1, (1, 0, 3, 2))(network)
    assert moved.head == network.head
    np.testing.assert_allclose(moved.model_outputs(X), expected, atol=1e-12)
    small = pf.rewrite.shallow(atlas)
    session = onnxruntime.InferenceSession(small.to_onnx().SerializeToString())
    np.testing.assert_allclose(session.run(["y"], {"x": X})[0], expected, atol=1e-9)
    torch = pytest.importorskip("torch")
    module = small.to_torch()
    with torch.no_grad():
        np.testing.assert_allclose(module(torch.as_tensor(X)).numpy(), expected, atol=1e-9)
        np.testing.assert_allclose(module.scores(torch.as_tensor(X)).numpy(), network(X), atol=1e-9)

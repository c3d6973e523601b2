"""Verdicts are about the functions of the files' own numbers, not about what floats make of them on the way."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.exact_program import lower_exactly
from polyfold.program.lower.lower import lower, written_out
from polyfold.program.passes.rationals import evaluate_exactly
from soundness.rounding_oracle import apart, onnx_model, outputs

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")
BOX = (-2.0, 2.0)
RELU = ("relu",)
KINDS = (
    *("cancel", "divide", "divided", "reciprocal", "factor", "mean", "mean rounded", "pool", "pool rounded"),
    *("normal", "normal bit", "normal multiple", "chain", "chain bit"),
)


def linear(weight, bias=None):
    weight = np.atleast_2d(np.asarray(weight, dtype=np.float64))
    bias = np.zeros(len(weight)) if bias is None else np.asarray(bias, dtype=np.float64)
    return ("linear", weight.tolist(), bias.tolist())


def last_bit(value):
    return float(np.nextafter(value, np.inf))


def random_pair(rng):
    """Two chains, and whether they are the same function."""
    width = int(rng.integers(1, 4))
    weight, bias = rng.normal(size=(3, width)), rng.normal(size=3)
    ending = [RELU, linear(rng.normal(size=(2, 3)), rng.normal(size=2))]
    kind = rng.choice(KINDS)
    divisor = rng.choice([3.0, 7.0, 10.0, 49.0, 1.1], size=3).tolist()
    start = linear(weight, bias)
    if kind == "cancel":
        big = 2.0 ** float(rng.integers(56, 80))
        one = [linear([[1.0] * width, [big] * width, [-big] * width]), linear([[1.0, 1.0, 1.0]] * 3, bias)]
        same = bool(rng.integers(2))
        return width, [*one, *ending], [linear([[1.0 if same else 0.0] * width] * 3, bias), *ending], same
    if kind == "divide":
        return width, [start, ("divide", divisor), ("multiply", divisor), *ending], [start, *ending], True
    if kind == "divided":
        quotients = linear(weight / np.array(divisor)[:, None], bias / np.array(divisor))
        return width, [start, ("divide", divisor), *ending], [quotients, *ending], None
    if kind == "reciprocal":
        factors = (1 / np.array(divisor)).tolist()
        return width, [start, ("divide", divisor), *ending], [start, ("multiply", factors), *ending], False
    if kind == "factor":
        one = [start, ("multiply", divisor), *ending]
        return width, one, [linear(weight * np.array(divisor)[:, None], bias * np.array(divisor)), *ending], None
    spread = linear(rng.normal(size=(6, width)), rng.normal(size=6))
    if kind.startswith("mean"):
        ones = linear([[1.0] * 6]) if kind == "mean" else linear([[1 / 6] * 6])
        behind = [("divide", [6.0])] if kind == "mean" else []
        tail = [RELU, linear([[1.5]])]
        return width, [spread, ("mean",), *tail], [spread, ones, *behind, *tail], kind == "mean"
    if kind.startswith("pool"):
        each = 1.0 if kind == "pool" else 1 / 3
        window = linear([[each] * 3 + [0.0] * 3, [0.0] * 3 + [each] * 3])
        behind = [("divide", [3.0, 3.0])] if kind == "pool" else []
        tail = [RELU, linear(rng.normal(size=(1, 2)))]
        return width, [spread, ("pool", 3), *tail], [spread, window, *behind, *tail], kind == "pool"
    gamma, beta, mean = (rng.normal(size=3).tolist() for _ in range(3))
    variance = rng.uniform(0.1, 3.0, size=3).tolist()
    normal = ("normalise", gamma, beta, mean, variance)
    if kind == "normal":
        # The same numbers behind a step that changes nothing.
        return width, [start, normal, *ending], [start, ("multiply", [1.0] * 3), normal, *ending], True
    if kind == "normal bit":
        other = ("normalise", gamma, beta, mean, [last_bit(variance[0]), *variance[1:]])
        return width, [start, normal, *ending], [start, other, *ending], False
    if kind == "normal multiple":
        # root(4 v) = 2 root(v)
        other = ("normalise", [2 * g for g in gamma], beta, mean, [4 * v for v in variance])
        return width, [start, normal, *ending], [start, other, *ending], True
    # Two layers that are one: the inner one holds powers of two, so their product is in floats.
    powers = np.diag(2.0 ** rng.integers(-3, 4, size=3).astype(float))
    product = powers @ weight
    if kind == "chain bit":
        product[0, 0] = last_bit(product[0, 0])
    return width, [start, linear(powers), *ending], [linear(product, powers @ bias), *ending], kind == "chain"


@pytest.mark.parametrize("seed", quick_then_slow(range(20), quick=8))
def test_generated_pairs_are_judged_as_fractions_judge_them(seed):
    rng = np.random.default_rng(seed)
    for _ in range(6):
        width, one, other, same = random_pair(rng)
        found = pf.equivalent(
            onnx_model(one, width), onnx_model(other, width), pf.box([BOX[0]] * width, [BOX[1]] * width)
        )
        if same is not None and found.word != ("equal" if same else "different"):
            # What differs may be off all over the box: then fractions see no difference either.
            assert not same and not any(apart(one, other, point)[0] for point in points_of_box(rng, width, 100)), found
        judge(found, one, other, width, rng)


def points_of_box(rng, width, count):
    return [[Fraction(int(k), 64) for k in rng.integers(-128, 129, size=width)] for _ in range(count)]


def judge(found, one, other, width, rng):
    """Nothing that is said may be at odds with fractions."""
    for point in points_of_box(rng, width, 8):
        least, _ = apart(one, other, point)
        assert least <= found.upper
        if found.word == "equal":
            assert least <= found.tolerance
    if found.point is not None:
        _, most = apart(one, other, found.point)
        assert found.max_difference <= most
    if found.word == "different":
        assert apart(one, other, found.point)[0] > found.tolerance


@pytest.mark.parametrize("seed", range(8))
def test_generated_pairs_with_a_tolerance(seed):
    rng = np.random.default_rng(1000 + seed)
    for _ in range(3):
        width, one, other, _ = random_pair(rng)
        tolerance = float(rng.choice([1e-17, 1e-15, 1e-3]))
        domain = pf.box([BOX[0]] * width, [BOX[1]] * width)
        found = pf.equivalent(
            onnx_model(one, width), onnx_model(other, width), domain, tolerance=tolerance, max_seconds=5
        )
        judge(found, one, other, width, rng)


def test_a_chain_that_cancels_is_not_nothing():
    one = [linear([[1e17], [1.0], [-1e17]]), linear([[1.0, 1.0, 1.0]]), RELU]
    nothing = [linear([[0.0]]), RELU]
    found = pf.equivalent(onnx_model(one, 1), onnx_model(nothing, 1), pf.box(-1, 1), tolerance=1e-3)
    assert found.word == "different" and found.max_difference == 1
    assert pf.equivalent(onnx_model(one, 1), onnx_model([linear([[1.0]]), RELU], 1)).word == "equal"


def test_dividing_and_multiplying_is_nothing_on_all_of_space():
    one = [("divide", [49.0]), ("multiply", [49.0]), RELU]
    assert pf.equivalent(onnx_model(one, 1), onnx_model([RELU], 1)).word == "equal"


def test_variances_one_bit_apart_are_told_apart():
    models = [onnx_model([("normalise", [1.0], [0.0], [0.0], [variance]), RELU], 1) for variance in (2.0, 2 + 2**-51)]
    for domain in (None, pf.box(-1, 1)):
        found = pf.equivalent(*models, domain)
        assert found.word == "different" and found.point[0] > 0
        assert "variance" in found.hint and "2.0000000000000004" in found.hint
    assert "tolerance=" in found.hint


def test_the_exact_program_says_which_numbers_stand_for_roots():
    rational = lower_exactly(pf.load(onnx_model([("normalise", [3.0], [0.0], [0.0], [2.25]), RELU], 1)))
    assert rational.rounding is None and rational.evaluate([[1]])[0, 0] == 2
    irrational = lower_exactly(pf.load(onnx_model([("normalise", [1.0], [0.0], [0.0], [2.0]), RELU], 1)))
    assert "roots" in irrational.rounding.words() and irrational.rounding.largest < 1e-59


@pytest.mark.parametrize("seed", range(30))
def test_programs_lie_as_near_as_they_say(seed):
    """The distance that a program gives is no less than what fractions find, and its copies keep it."""
    rng = np.random.default_rng(2000 + seed)
    width, one, other, _ = random_pair(rng)
    for chain in (one, other):
        program = lower(pf.load(onnx_model(chain, width)))
        structured = lower(pf.load(onnx_model(chain, width)), structured=True)
        for each in (program, written_out(program), structured, written_out(structured)):
            bound = each.distance(np.full(width, 2.0))
            pair = side_by_side(each, each)
            assert np.allclose(pair.distance(np.full(width, 2.0)), np.tile(bound, 2), rtol=1e-6)
            for _ in range(4):
                point = rng.integers(-128, 129, size=width) / 64
                check_distance(each, chain, point, bound)


def check_distance(program, chain, point, bound):
    exact = evaluate_exactly(program, [fmpq(*float(x).as_integer_ratio()) for x in point]).outputs
    for value, (low, high), off in zip(exact, outputs(chain, [Fraction(float(x)) for x in point]), bound, strict=True):
        near = Fraction(int(value.p), int(value.q))
        assert max(low - near, near - high) <= (Fraction(float(off)) if off < np.inf else off)
        if program.rounding is None:
            assert low <= near <= high


def test_what_was_rounded_is_kept_with_an_atlas(tmp_path):
    chain = [linear([[1.0, 2.0]] * 3), ("divide", [3.0, 7.0, 1.0]), RELU, linear([[1.0, 1.0, 1.0]])]
    atlas = pf.unfold(onnx_model(chain, 2), pf.box([-1, -1], [1, 1]))
    assert "quotients" in atlas.program.rounding.words()
    atlas.save(tmp_path / "atlas")
    again = pf.open(tmp_path / "atlas")
    assert again.program.rounding.words() == atlas.program.rounding.words()
    reach = np.ones(2)
    assert again.program.distance(reach).tolist() == atlas.program.distance(reach).tolist()


def test_fractions_as_weights_are_kept():
    third = [([[Fraction(1, 3)]], [Fraction(1, 7)]), ([[3]], [Fraction(-3, 7)])]
    found = pf.equivalent(third, [([[1.0]], [0.5]), ([[1.0]], [-0.5])], pf.box(0, 1))
    assert found.word == "equal"
    rounded = pf.equivalent([([[1 / 3]], [0.0])], [([[Fraction(1, 3)]], [0])], pf.box(0, 1))
    assert rounded.word == "different"
    assert rounded.max_difference == abs(Fraction(1 / 3) - Fraction(1, 3)) * rounded.point[0]
    assert pf.equivalent([([[Decimal("0.1")]], [0])], [([[Fraction(1, 10)]], [0])]).word == "equal"
    assert pf.equivalent([([[Decimal("0.1")]], [0])], [([[0.1]], [0.0])]).word == "different"


def test_fractions_as_bounds_and_tolerances_are_kept():
    """x and relu(x - 1/3) + 1/3 are the same beyond a third, and a bit before it they are not."""
    bent = [([[1]], [Fraction(-1, 3)]), ([[1]], [Fraction(1, 3)])]
    straight = [([[1.0]], [0.0])]
    assert pf.equivalent(bent, straight, pf.box(Fraction(1, 3), 1)).word == "equal"
    below = float(np.nextafter(1 / 3, 0))
    assert Fraction(below) < Fraction(1, 3)
    assert pf.equivalent(bent, straight, pf.box(below, 1)).word == "different"
    ends = pf.polytope([[Fraction(-1), 0], [1, 0], [0, 1], [0, -1]], [Fraction(-1, 3), 1, 1, 1])
    assert len(pf.unfold([([[3, 0]], [-1]), ([[1.0]], [0.0])], ends)) == 1
    half = [([[1.0]], [0.0])], [([[1.0]], [Fraction(1, 3)])]
    assert pf.equivalent(*half, pf.box(-1, 1), tolerance=Fraction(1, 3)).word == "equal"
    assert pf.equivalent(*half, pf.box(-1, 1), tolerance=Fraction(1, 3) - Fraction(1, 10**30)).word == "different"


@pytest.mark.parametrize("bad", ["1/3", 1j, None, object(), float("nan")])
def test_what_is_no_real_number_is_refused(bad):
    with pytest.raises(pf.errors.PolyfoldError):
        pf.load([([[bad]], [0.0])])
    with pytest.raises(pf.errors.PolyfoldError):
        pf.unfold([([[1.0]], [0.0])], pf.box(bad, 1))


def test_numbers_longer_than_floats_are_kept_or_refused():
    long = np.longdouble(1) + np.longdouble(2) ** -60
    with pytest.raises(pf.errors.NetworkError, match="cannot be kept exactly"):
        pf.load([([[long]], [0.0])])
    with pytest.raises(pf.errors.NetworkError, match="53 bits"):
        pf.load([([[Fraction(1, 3), Fraction(2**60 + 1)]], [0])])
    with pytest.raises(pf.errors.DomainError, match="would be rounded"):
        pf.unfold([([[1.0, 1.0]], [0.0])], pf.slice_of([Fraction(1, 3), 0], [[1], [0]]))


def test_ordinary_networks_are_not_rounded():
    rng = np.random.default_rng(0)
    chain = [linear(rng.normal(size=(4, 3)), rng.normal(size=4)), RELU, linear(rng.normal(size=(2, 4)))]
    program = lower(pf.load(onnx_model(chain, 3)))
    assert program.rounding is None and not program.distance(np.ones(3)).any()


@pytest.mark.parametrize("factors", [(1e300, 1e300, 1e-300, 1e-300), (1e-300, 1e-300, 1e300, 1e300)])
def test_products_that_leave_the_range_of_floats_on_the_way_only(factors):
    model = torch.nn.Sequential(*(torch.nn.Linear(1, 1, bias=False) for _ in factors), torch.nn.ReLU()).double()
    with torch.no_grad():
        for layer, factor in zip(model, factors, strict=False):
            layer.weight[:] = factor
    network = pf.load(model)
    program = lower(network)
    (coefficient,) = program.stages[0].affine.blocks[0].weight.ravel()
    exact = Fraction(factors[0]) * Fraction(factors[1]) * Fraction(factors[2]) * Fraction(factors[3])
    assert coefficient == float(exact) and (program.rounding is None) == (Fraction(coefficient) == exact)
    assert len(pf.unfold(network, pf.box(-1, 1))) == 2
    assert pf.local(network, [[1.0]]).A[0, 0, 0] == coefficient


def test_what_is_written_of_an_average_is_read_again(tmp_path):
    """onnxruntime fuses a matrix and a division, with a factor in float32."""
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 3), torch.nn.Unflatten(1, (1, 3))
    )
    network = pf.load(torch.nn.Sequential(*model, torch.nn.AvgPool1d(3)))
    network.save_onnx(tmp_path / "average.onnx")
    assert pf.equivalent(network, tmp_path / "average.onnx")


def test_canonical_forms_of_neighbours_tell_the_networks_apart():
    """Different numbers are rounded to the same program; the form must not be the same for that."""
    third, next_to_it = [([[Fraction(1, 3)]], [0]), ([[1.0]], [0.0])], [([[1 / 3]], [0.0]), ([[1.0]], [0.0])]
    forms = [pf.compare.canonical(layers) for layers in (third, next_to_it)]
    assert pf.equivalent(third, next_to_it).word == "different"
    assert forms[0] != forms[1] and forms[0].digest != forms[1].digest
    assert forms[0] == pf.compare.canonical(third) and "a neighbour" in repr(forms[0])
    of_neighbour = pf.compare.canonical(pf.unfold(third))
    assert of_neighbour not in forms and "a neighbour" in repr(of_neighbour)

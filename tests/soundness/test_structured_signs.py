"""Signs in structured programs: convolutions, pools, scales, skips, stacks and sums are never multiplied as floats.

Every case has biases that cancel what its gates read at a point: what is left is zero, or a tiny number that products
rounded to floats would take for zero or give the wrong sign. An oracle in fractions, which walks the network's own ops,
knows the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import nextafter

import numpy as np
import pytest

import polyfold as pf
from polyfold.atlas.patterns import pack
from polyfold.engine.proof.check import check_witnesses
from polyfold.errors import LimitError
from polyfold.network import Network
from polyfold.network.ops.linear import Add, Linear, Scale, Shift
from polyfold.network.ops.movement import Concat
from polyfold.network.ops.op import constant
from polyfold.network.read.builder import Value
from polyfold.program import Program
from polyfold.program.derive import exact_matrices
from polyfold.program.lower.lower import lower
from polyfold.program.lower.rounding_free import written_out_without_rounding
from soundness.fraction_network import (
    LEAKY,
    RELU,
    Evaluated,
    FractionNetwork,
    convolution,
    means,
    pool,
    spread,
)

CASES = 162
KINDS = ("plain", "mean", "convolutions", "scaled", "skip", "stacked", "summed", "pooled", "spread")


@dataclass(frozen=True, eq=False)
class Case:
    """A network, the point that its biases were made for, and what is true of it."""

    network: Network
    truth: FractionNetwork
    program: Program
    point: np.ndarray


def weights(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Decimal numbers such as people write, numbers with few binary digits, or any."""
    numbers = (rng.integers(-9, 10, size=shape) / 10, rng.integers(-6, 7, size=shape) / 4, rng.normal(size=shape))
    return numbers[int(rng.integers(3))]


def linear_part(kind: str, rng: np.random.Generator, net: FractionNetwork, x: Value, name: str) -> Value:
    """Linear ops one after the other, on a value (channels, length)."""
    channels, length = x.shape
    if kind == "plain":
        return net.add(f"{name}.conv", convolution(weights(rng, (2, channels, 2))), x)
    if kind == "mean":
        kernel = weights(rng, (2, channels, 1))
        return net.add(f"{name}.mean", means(2, length, 3), net.add(f"{name}.conv", convolution(kernel), x))
    if kind == "convolutions":
        inner = net.add(f"{name}.first", convolution(weights(rng, (2, channels, 2)), padding=1), x)
        return net.add(f"{name}.second", convolution(weights(rng, (2, 1, 2)), groups=2), inner)
    if kind == "scaled":
        inner = net.add(f"{name}.conv", convolution(weights(rng, (2, channels, 2))), x)
        return net.add(f"{name}.scale", Scale(constant(weights(rng, (2, 1)))), inner)
    if kind in ("skip", "summed", "pooled"):
        one = net.add(f"{name}.one", convolution(weights(rng, (2, channels, 3)), padding=1), x)
        other = net.add(f"{name}.other", convolution(weights(rng, (2, channels, 1))), x)
        return net.add(
            f"{name}.sum", Add(), one, net.add(f"{name}.scale", Scale(constant(weights(rng, (2, 1)))), other)
        )
    if kind == "stacked":
        one = net.add(f"{name}.one", convolution(weights(rng, (1, channels, 1))), x)
        both = net.add(
            f"{name}.stack", Concat(0), one, net.add(f"{name}.scale", Scale(constant(weights(rng, (channels, 1)))), x)
        )
        return net.add(f"{name}.mean", means(1 + channels, length, 3), both)
    inner = net.add(f"{name}.spread", spread(weights(rng, (channels, 2, 2)), length + 1), x)
    return net.add(f"{name}.conv", convolution(weights(rng, (2, 2, 2))), inner)


def opposite(value: Fraction, rng: np.random.Generator) -> float:
    """A bias that leaves next to nothing of a value, or is an ordinary one."""
    near = -float(value)
    choices = (near, near, near, nextafter(near, np.inf), nextafter(near, -np.inf), float(rng.normal()))
    return choices[int(rng.integers(len(choices)))]


def switch(rng: np.random.Generator, net: FractionNetwork, z: Value, name: str) -> Value:
    """Biases that cancel, and a rectifier."""
    biases = [opposite(jet[0], rng) for jet in net.at[0].jets[z.name]]
    shifted = net.add(f"{name}.bias", Shift(constant(biases).reshape(z.shape)), z)
    return net.add(f"{name}.relu", LEAKY if rng.random() < 0.3 else RELU, shifted)


@lru_cache(maxsize=CASES)
def case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    length = int(rng.integers(3, 6))
    # Few binary digits, so that zeros occur as well; or many.
    point = rng.integers(-8, 9, size=length) / 4 if rng.random() < 0.5 else rng.normal(size=length)
    net = FractionNetwork([point])
    hidden = switch(rng, net, linear_part(kind, rng, net, net.input, "a"), "a")
    if kind == "pooled":
        hidden = net.add("pool", pool(*hidden.shape, 2), hidden)
    if kind == "skip" or (rng.random() < 0.5 and hidden.shape[1] >= 3):
        z = linear_part(kind, rng, net, hidden, "b")
        if kind == "skip":
            z = net.add("b.skip", Add(), z, hidden)
        hidden = switch(rng, net, z, "b")
    output = net.add("out", Linear(constant(weights(rng, (1, hidden.shape[1]))), constant([0.0])), hidden)
    network = net.finish(output)
    program = lower(network)
    assert not program.written_out and not program.rounded
    return Case(network, net, program, np.asarray(point, dtype=np.float64))


def true_signs(case: Case, at: Evaluated) -> dict[int, int]:
    """The sign that every rectifier's gate has, by the gate's number; gates of pools are not looked at."""
    shapes = case.network.shapes
    signs = {}
    for gate, origin in enumerate(case.program.origins):
        if origin.node in at.switched:
            value = at.switched[origin.node][int(np.ravel_multi_index(origin.index, shapes[origin.node]))]
            signs[gate] = (value > 0) - (value < 0)
    return signs


def test_cases_are_as_hard_as_they_should_be() -> None:
    tiny = zero = rounded = 0
    for seed in range(CASES):
        made = case(seed)
        values = [abs(value) for all_ in made.truth.at[0].switched.values() for value in all_]
        tiny += any(0 < value < Fraction(1, 10**14) for value in values)
        zero += 0 in values
        rounded += not all(written_out_without_rounding(a.form) for a in made.program.affines)
    assert tiny > 100 and zero > 30 and rounded > 100


@pytest.mark.parametrize("kind", KINDS)
def test_local_maps_have_true_signs(kind: str) -> None:
    for seed in range(KINDS.index(kind), CASES, len(KINDS)):
        made = case(seed)
        rng = np.random.default_rng(seed)
        beside = np.nextafter(made.point, rng.choice([-np.inf, np.inf], size=len(made.point)))
        X = np.stack([made.point, beside, rng.normal(size=len(made.point))])
        found = pf.local(made.program, X)
        for i, x in enumerate(X.tolist()):
            at = made.truth.evaluate(list(map(Fraction, x)))
            unsure = {*found.undecided[i].tolist()}
            zero = {*found.on_wall[i].tolist(), *found.vanishing[i].tolist()}
            for gate, sign in true_signs(made, at).items():
                assert gate in unsure or (gate in zero) == (sign == 0), (seed, i, gate)
                assert gate in unsure or sign == 0 or found.signs[i, gate] == (sign > 0), (seed, i, gate)
            assert not unsure, (seed, i)
            if not at.ties:
                slopes = np.array([[float(x) for x in jet[1:]] for jet in at.jets["out"]])
                scale = 1 + np.abs(slopes).max()
                np.testing.assert_allclose(found.A[i], slopes, rtol=0, atol=1e-9 * scale)


def assert_in_cell(made: Case, signs: np.ndarray, point: list[Fraction], *, strictly: bool) -> None:
    """A point has a cell's signs; on its boundary some may be zero."""
    at = made.truth.evaluate(point)
    for gate, sign in true_signs(made, at).items():
        assert sign == 0 or signs[gate] == (sign > 0), gate
    if strictly:
        assert not at.ties


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_explored_cells_are_cells(kind: str) -> None:
    explored_cells_are_cells(range(KINDS.index(kind), CASES, len(KINDS)))


def test_explored_cells_are_cells() -> None:
    explored_cells_are_cells(range(0, CASES, 7))


def explored_cells_are_cells(seeds: range) -> None:
    for seed in seeds:
        made = case(seed)
        domain = pf.box(made.point - 2, made.point + 3)
        atlas = pf.explore(made.program, made.point, domain=domain, max_cells=3)
        signs = atlas.signs()
        for cell in range(len(atlas)):
            witness = [Fraction(int(x.p), int(x.q)) for x in atlas.rational_witness(cell)]
            assert_in_cell(made, signs[cell], witness, strictly=True)
        (found,) = atlas.locate(made.point[None], outside="ignore").tolist()
        if found >= 0:
            assert_in_cell(made, signs[found], list(map(Fraction, made.point.tolist())), strictly=False)
        assert all(each.passed for each in atlas.certificate.checks), (seed, atlas.certificate.checks)


@pytest.mark.parametrize("large", [False, True])
def test_complete_explored_atlases_are_certified(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:  # as if there were too many coefficients to multiply them exactly
        monkeypatch.setattr(exact_matrices, "_MOST_COEFFICIENTS", 0)
    for seed in (21, 30, 38):
        made = case(seed)
        program = replace(made.program)
        atlas = pf.explore(program, made.point, domain=pf.box(made.point - 0.25, made.point + 0.5))
        assert atlas.complete and len(atlas) > 3 and (program.exact_matrices is None) == large
        certificate = pf.certify(atlas)
        assert certificate.level == "certified", (seed, certificate.failed_checks)
        if large:  # floats that would speak of rounded matrices prove nothing
            assert certificate.checks[-1].detail.startswith("0 cells in floats, ")
        checked = pf.check(atlas)
        assert checked.level == "checked", (seed, checked.failed_checks)
        if large:
            with pytest.raises(LimitError, match="would be rounded"):
                atlas.f_vector()
        else:
            assert atlas.euler_characteristic() == 1
        for cell, signs in enumerate(atlas.signs()):
            witness = [Fraction(int(x.p), int(x.q)) for x in atlas.rational_witness(cell)]
            assert_in_cell(made, signs, witness, strictly=True)


def test_resumed_atlases_have_true_cells() -> None:
    """Where a convolution is all that lies between switches its matrix is exact, and the whole engine is."""
    for seed in range(KINDS.index("plain"), CASES, 2 * len(KINDS)):
        made = case(seed)
        domain = pf.box(made.point - 1, made.point + 2)
        atlas = pf.resume(pf.unfold(made.program, domain, max_cells=3))
        assert atlas.complete and not atlas.program.rounded
        for cell, signs in enumerate(atlas.signs()[:20]):
            witness = [Fraction(int(x.p), int(x.q)) for x in atlas.rational_witness(cell)]
            assert_in_cell(made, signs, witness, strictly=True)
        (found,) = atlas.locate(made.point[None]).tolist()
        here = list(map(Fraction, made.point.tolist()))
        assert_in_cell(made, atlas.signs([found])[0], here, strictly=False)


def test_a_mean_behind_a_convolution() -> None:
    torch = pytest.importorskip("torch")
    for weight in (0.1, 0.7, 0.3):
        layers = torch.nn.Sequential(torch.nn.Conv1d(1, 1, 1, bias=False), torch.nn.AvgPool1d(3)).double()
        layers[0].weight.data[:] = weight
        bias = torch.nn.Conv1d(1, 1, 1).double()
        bias.weight.data[:], bias.bias.data[:] = 1.0, -(weight / 3)
        network = pf.load(torch.nn.Sequential(layers, bias, torch.nn.ReLU()), input_shape=(1, 3))
        found = pf.local(network, [[1.0, 0.0, 0.0]])
        # The mean's third is rounded to a float or is not, as the network was read.
        truths = [Fraction(weight) * third - Fraction(weight / 3) for third in (Fraction(1 / 3), Fraction(1, 3))]
        signs = {(truth > 0) - (truth < 0) for truth in truths}
        said = 0 if len(found.on_wall[0]) else 1 if found.signs[0, 0] else -1
        assert len(found.undecided[0]) or said in signs
        assert len(found.undecided[0]) or (said <= 0) == (not found.A.any())


def test_patterns_of_points_are_feasible() -> None:
    looked_at = 0
    for seed in range(0, CASES, 3):
        made = case(seed)
        if made.truth.at[0].ties:
            continue
        signs = pf.local(made.program, made.point[None]).signs[0]
        found = pf.maps.of_pattern(made.program, signs)
        assert found.status == "cell", seed
        slopes = np.array([[float(x) for x in jet[1:]] for jet in made.truth.at[0].jets["out"]])
        np.testing.assert_allclose(found.A, slopes, rtol=0, atol=1e-9 * (1 + np.abs(slopes).max()))
        looked_at += 1
    assert looked_at > 10


def test_a_witness_of_the_rounded_function_is_refused() -> None:
    """The signs that rounded products have at the point are not taken for the program's."""
    refused = 0
    for seed in range(0, CASES, 3):
        made = case(seed)
        if made.truth.at[0].ties:
            continue
        domain = pf.box(made.point - 2, made.point + 3)
        right = pf.local(made.program, made.point[None]).signs
        atlas = pf.explore(made.program, made.point, domain=domain, max_cells=1)
        here = replace(atlas, witnesses=made.point[None], patterns=pack(right), exact_witnesses={})
        assert check_witnesses(here).passed, seed
        tiny = [gate for gate in true_signs(made, made.truth.at[0]) if abs(value_of(made, gate)) < Fraction(1, 10**12)]
        for gate in tiny[:1]:
            wrong = right.copy()
            wrong[0, gate] ^= True
            assert not check_witnesses(replace(here, patterns=pack(wrong))).passed, (seed, gate)
            refused += 1
    assert refused > 10


def value_of(made: Case, gate: int) -> Fraction:
    origin = made.program.origins[gate]
    flat = int(np.ravel_multi_index(origin.index, made.network.shapes[origin.node]))
    return made.truth.at[0].switched[origin.node][flat]

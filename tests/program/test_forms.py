"""Structured programs: the same function, maps and bounds as when everything is written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.random_networks import networks
from helpers.slow_params import examples
from polyfold.errors import LimitError
from polyfold.exact.bounded_values import exact_values
from polyfold.network import Network
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.op import constant
from polyfold.network.ops.spatial import Convolution
from polyfold.network.ops.switches import Largest, Rectify
from polyfold.network.read.builder import Builder
from polyfold.program import Program
from polyfold.program.lower.lower import lower, written_out
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.pulled_back import gate_forms, majorant, output_forms, support

QUICK = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
RELU = Rectify(constant(1.0), constant(0.0))


@QUICK
@given(networks(with_spatial=True))
def test_program_and_network_agree(network: Network) -> None:
    program = lower(network, structured=True)
    assert not program.written_out
    points = np.random.default_rng(0).normal(size=(20, network.input_dim)) * 2
    scale = 1 + max(float(np.abs(value).max()) for value in network.evaluate(points).values())
    outputs, pattern = program.evaluate(points)
    np.testing.assert_allclose(outputs, network(points), rtol=0, atol=1e-11 * scale)
    assert pattern.shape == (20, program.gates) == (20, len(set(program.origins)))


@QUICK
@given(networks(with_spatial=True))
def test_written_out_it_is_the_same(network: Network) -> None:
    program = lower(network, structured=True)
    whole = written_out(program)
    assert whole.written_out and written_out(whole) is whole
    points = np.random.default_rng(1).normal(size=(10, network.input_dim)) * 2
    outputs, signs = program.evaluate(points)
    scale = 1 + max(float(np.abs(value).max()) for value in network.evaluate(points).values())
    np.testing.assert_allclose(
        lower(network, structured=False).evaluate(points)[0], outputs, rtol=0, atol=1e-11 * scale
    )
    gates = np.random.default_rng(2).integers(0, max(1, program.gates), size=10)
    for change in (lambda p: p, majorant, support):
        forms = [output_forms(change(p), signs) for p in (program, whole)]
        if program.gates:
            forms = [(*f, *gate_forms(change(p), signs, gates)) for f, p in zip(forms, (program, whole), strict=True)]
        for ours, theirs in zip(*forms, strict=True):
            size = 1 + np.abs(theirs).max(initial=0.0)
            if change is support:
                # Paths that cancel are there when the form is kept, and gone when it is written out.
                assert ((ours > 0) | (theirs == 0)).all()
            elif change is majorant:
                assert (ours >= theirs - 1e-12 * size).all()
            else:
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11 * size)


@QUICK
@given(networks(with_spatial=True))
def test_error_bounds_hold(network: Network) -> None:
    """The two ways to compute differ by less than their bounds, and agree on every sign that both have proved."""
    program = lower(network, structured=True)
    points = np.random.default_rng(3).integers(-4, 5, size=(10, network.input_dim)) / 3
    kept, whole = (bounded_forward(p, exact_values(points)) for p in (program, written_out(program)))
    gap = np.abs(kept.outputs.values - whole.outputs.values)
    # Writing out rounds coefficients once more: a few units of the last place of the largest product.
    slack = 1e-12 * (1 + max(float(np.abs(value).max()) for value in network.evaluate(points).values()))
    assert (gap <= kept.outputs.errors + whole.outputs.errors + slack).all()
    both = kept.certain & whole.certain & ~kept.zero & ~whole.zero
    assert (kept.pattern == whole.pattern)[both].all()


def small_image_network(channels: int = 3, pixels: int = 6) -> Network:
    rng = np.random.default_rng(5)
    builder = Builder("arrays")
    image = builder.port("image", (1, pixels, pixels))
    window = Window((1, 1), ((1, 1), (1, 1)), (1, 1))
    kernel = constant(rng.normal(size=(channels, 1, 3, 3)))
    conv = builder.emit("conv", Convolution(kernel, constant(rng.normal(size=channels)), window), image)
    relu = builder.emit("relu", RELU, conv)
    places = np.arange(channels * pixels * pixels).reshape(channels, pixels // 2, 2, pixels // 2, 2)
    members = places.transpose(0, 1, 3, 2, 4).reshape(channels, pixels // 2, pixels // 2, 4)
    return builder.finish([builder.emit("pool", Largest(members), relu)])


def test_switches_of_pools_have_a_name_and_a_place() -> None:
    program = lower(small_image_network())
    names = [str(origin) for origin in program.origins]
    assert "pool[2,1,0].max(0,1)" in names and "pool[2,1,0].max(2,3)" in names
    assert "pool[2,1,0].max(0-1,2-3)" in names
    assert program.origins[-1] == program.origins[program.gates - 1]
    assert program.origins == tuple(program.origins)
    with pytest.raises(IndexError, match="no gate"):
        program.origins[program.gates]


def test_the_digest_depends_on_every_coefficient() -> None:
    first, again = lower(small_image_network()), lower(small_image_network())
    assert first.digest == again.digest
    assert first.digest != written_out(first).digest
    form = first.stages[0].affine.changed(lambda array: array + 1.0)
    other = Program(first.input_dim, (type(first.stages[0])(form, *slopes(first)), *first.stages[1:]), first.output, ())
    assert other.digest != first.digest


def slopes(program: Program) -> tuple[np.ndarray, np.ndarray]:
    return program.stages[0].slope_on, program.stages[0].slope_off


def test_what_is_too_large_to_write_out_is_refused_with_advice() -> None:
    network = small_image_network(channels=8, pixels=128)
    with pytest.raises(LimitError, match=r"pf\.local"):
        pf.unfold(network)


def test_large_repeated_layers_stay_structured() -> None:
    builder = Builder("arrays")
    rows = builder.port("rows", (4096, 4))
    builder_out = builder.emit("shared", Linear(constant(np.ones((2, 4))), constant(np.zeros(2))), rows)
    program = lower(builder.finish([builder_out]))
    assert not program.written_out
    outputs, _ = program.evaluate(np.ones((1, 4096 * 4)))
    assert (outputs == 4.0).all()

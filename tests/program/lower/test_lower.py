"""Lowering: the program computes the network, and plain networks keep every bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from helpers.random_networks import networks
from helpers.slow_params import examples
from polyfold.network import Network, load
from polyfold.network.ops.linear import Add, Linear, Scale, Subtract
from polyfold.network.ops.movement import Concat, Take
from polyfold.network.ops.op import Op, constant
from polyfold.network.ops.switches import Clamp, Maximum, Minimum, Rectify
from polyfold.network.read.builder import Builder
from polyfold.program import Program
from polyfold.program.lower.lower import lower

RELU = Rectify(constant(1.0), constant(0.0))


def through(op: Op, *, size: int = 2, inputs: int = 1) -> Program:
    """The program of a single op on inputs of that size."""
    builder = Builder("arrays")
    ports = [builder.port(f"x{k}", (size,)) for k in range(inputs)]
    return lower(builder.finish([builder.emit("op", op, *ports)]))


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_program_and_network_agree(network: Network) -> None:
    program = lower(network)
    points = np.random.default_rng(0).normal(size=(20, network.input_dim)) * 2
    values = network.evaluate(points)
    scale = 1 + max(float(np.abs(value).max()) for value in values.values())
    outputs, pattern = program.evaluate(points)
    # Max and clamp are rewritten as sums, which cancel: errors are relative to all that is added.
    np.testing.assert_allclose(outputs, network(points), rtol=0, atol=1e-11 * scale)
    assert pattern.shape == (20, program.gates) == (20, len(set(program.origins)))


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_programs_are_well_formed(network: Network) -> None:
    program = lower(network)
    widths = [program.input_dim, *(stage.width for stage in program.stages)]
    for number, stage in enumerate(program.stages, start=1):
        assert stage.width > 0
        sources = [block.source for block in stage.affine.blocks]
        assert sources == sorted(set(sources)) and all(source < number for source in sources)
        # A gate is in the first stage in which it can be decided together with the rest of its node.
        assert number == 1 or number - 1 in sources
        assert stage.slope_on.shape == stage.slope_off.shape == stage.affine.bias.shape
        assert (stage.slope_on != stage.slope_off).all()
    for affine in (*(stage.affine for stage in program.stages), program.output):
        for block in affine.blocks:
            assert block.weight.shape == (len(affine.bias), widths[block.source])
            assert block.weight.any() and not block.weight.flags.writeable
        assert not affine.bias.flags.writeable
    assert program.output_dim == network.output_dim


def test_a_plain_mlp_keeps_every_bit() -> None:
    rng = np.random.default_rng(0)
    sizes = [5, 4, 6, 3]
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(sizes)]
    layers[1][0][2] = 0.0
    layers[1][0][0, 0] = layers[0][1][1] = -0.0
    program = lower(load(layers))
    affines = [*(stage.affine for stage in program.stages), program.output]
    assert len(affines) == 3
    for k, (affine, (weight, bias)) in enumerate(zip(affines, layers, strict=True)):
        (block,) = affine.blocks
        assert block.source == k
        assert block.weight.tobytes() == weight.tobytes()
        assert affine.bias.tobytes() == bias.tobytes()
    assert [str(origin) for origin in program.origins[3:5]] == ["relu1[3]", "relu2[0]"]


def test_the_programs_digest_depends_on_the_weights_only() -> None:
    layers = [([[1.0, 2.0]], [0.5]), ([[1.0]], [0.0])]
    assert lower(load(layers)).digest == lower(load(layers)).digest
    assert lower(load(layers)).digest != lower(load([([[1.0, 2.5]], [0.5]), ([[1.0]], [0.0])])).digest


def test_equal_slopes_make_no_gate() -> None:
    program = through(Rectify(constant(1.0), constant([1.0, 0.5])))
    assert [str(origin) for origin in program.origins] == ["op[1]"]
    outputs, _ = program.evaluate(np.array([[-1.0, -1.0], [2.0, 2.0]]))
    np.testing.assert_array_equal(outputs, [[-1.0, -0.5], [2.0, 2.0]])


def test_absolute_value_is_one_gate() -> None:
    program = through(Rectify(constant(1.0), constant(-1.0)), size=1)
    assert program.gates == 1
    np.testing.assert_array_equal(program.evaluate(np.array([[-3.0], [2.0]]))[0], [[3.0], [2.0]])


@pytest.mark.parametrize(
    ("low", "high", "roles"),
    [
        (-1.0, 2.0, ["op[0].lower", "op[0].upper"]),
        (-np.inf, 2.0, ["op[0].upper"]),
        (-1.0, np.inf, ["op[0].lower"]),
        (-np.inf, np.inf, []),
        (1.0, 1.0, []),
        (2.0, 1.0, []),
    ],
)
def test_clamp_has_a_gate_for_each_bound(low: float, high: float, roles: list[str]) -> None:
    program = through(Clamp(low, high), size=1)
    assert [str(origin) for origin in program.origins] == roles
    points = np.linspace(-3, 3, 13)[:, None]
    np.testing.assert_array_equal(program.evaluate(points)[0], np.clip(points, low, high))


@pytest.mark.parametrize(("op", "role", "expected"), [(Maximum(), "max", np.maximum), (Minimum(), "min", np.minimum)])
def test_maximum_and_minimum_compare(op: Op, role: str, expected: Any) -> None:
    program = through(op, size=1, inputs=2)
    assert [str(origin) for origin in program.origins] == [f"op[0].{role}"]
    points = np.array([[1.0, 2.0], [2.0, 1.0], [0.5, 0.5]])
    np.testing.assert_array_equal(program.evaluate(points)[0], expected(points[:, :1], points[:, 1:]))


def test_nodes_of_equal_depth_share_a_stage() -> None:
    builder = Builder("arrays")
    x = builder.port("x", (2,))
    left, right = (
        builder.emit("left", RELU, x),
        builder.emit("right", Rectify(constant(2.0), constant(1.0)), x),
    )
    both = builder.emit("both", Concat(0), left, right)
    late = builder.emit("late", RELU, builder.emit("sum", Add(), x, left))
    program = lower(builder.finish([both, late]))
    assert [stage.width for stage in program.stages] == [4, 2]
    assert [origin.node for origin in program.origins] == ["left"] * 2 + ["right"] * 2 + ["late"] * 2
    # The stage that `late` reads grew by `right`'s gates, which it does not read.
    inner = program.stages[1].affine.blocks[1].weight
    np.testing.assert_array_equal(inner, [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])


def test_a_gate_without_inputs_is_in_the_first_stage() -> None:
    builder = Builder("arrays")
    x = builder.port("x", (2,))
    hidden = builder.emit("hidden", RELU, x)
    nothing = builder.emit("nothing", Linear(constant(np.zeros((1, 2))), constant([3.0])), hidden)
    program = lower(builder.finish([builder.emit("fixed", RELU, nothing)]))
    assert [stage.width for stage in program.stages] == [3]
    np.testing.assert_array_equal(program.evaluate(np.ones((1, 2)))[0], [[3.0]])


def test_a_cancelled_term_is_no_dependence() -> None:
    builder = Builder("arrays")
    x = builder.port("x", (2,))
    hidden = builder.emit("hidden", RELU, x)
    gone = builder.emit("gone", Subtract(), hidden, hidden)
    program = lower(builder.finish([builder.emit("late", RELU, builder.emit("sum", Add(), gone, x))]))
    assert len(program.stages) == 1


def test_an_affine_network_has_no_stages() -> None:
    program = through(Scale(constant([2.0, 3.0])))
    assert program.stages == () and program.gates == 0
    np.testing.assert_array_equal(program.output.blocks[0].weight, np.diag([2.0, 3.0]))


def test_entries_taken_twice_add_up() -> None:
    builder = Builder("arrays")
    x = builder.port("x", (2,))
    twice = builder.emit("twice", Take(np.array([1, 1])), x)
    program = lower(builder.finish([builder.emit("sum", Linear(constant([[1.0, 2.0]]), constant([0.0])), twice)]))
    np.testing.assert_array_equal(program.output.blocks[0].weight, [[0.0, 3.0]])


def test_gates_of_values_with_several_axes_are_indexed_so() -> None:
    builder = Builder("arrays")
    x = builder.port("x", (2, 2))
    program = lower(builder.finish([builder.emit("relu", RELU, x)]))
    assert [str(origin) for origin in program.origins] == ["relu[0,0]", "relu[0,1]", "relu[1,0]", "relu[1,1]"]


def test_wide_networks_are_lowered_without_cubic_work() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(8, 3072)), np.zeros(8)), (rng.normal(size=(2, 8)), np.zeros(2))]
    program = lower(load(layers))
    assert program.stages[0].affine.blocks[0].weight.shape == (8, 3072)

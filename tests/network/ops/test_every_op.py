"""Every op is known in all the places that treat ops kind by kind: a new one fails here until they do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers import random_networks
from polyfold.maps.graph_backward import pull
from polyfold.maps.graph_forward import passed
from polyfold.network.graph import Network, Node, Port
from polyfold.network.ops import linear, movement, spatial, switches
from polyfold.network.ops.op import Op, constant
from polyfold.network.ops.tags import OPS
from polyfold.network.read.telling_points import BENDS
from polyfold.network.write.onnx import write_node
from polyfold.network.write.torch import module_of
from polyfold.program.lower.lower import translate
from polyfold.reporting.figures.inventory import inventory


def _defined() -> list[type[Op]]:
    """The classes of ops that the files of ops define, found by looking: no list to forget."""
    found = [kind for file in (linear, movement, spatial, switches) for kind in vars(file).values()]
    return [kind for kind in found if inspect.isclass(kind) and issubclass(kind, Op) and kind is not Op]


DEFINED = list(dict.fromkeys(_defined()))
WITH_GATES = [op for op in DEFINED if op.__module__ == switches.__name__]

# One network for each op that decides something; what it reads is "x" of two entries, twice if it takes two values.
DECIDING: dict[type[Op], tuple[Op, int]] = {
    switches.Rectify: (switches.Rectify(constant(1.0), constant(0.0)), 1),
    switches.Clamp: (switches.Clamp(0.0, 1.0), 1),
    switches.Maximum: (switches.Maximum(), 2),
    switches.Minimum: (switches.Minimum(), 2),
    switches.Largest: (switches.Largest(np.array([[0, 1]])), 1),
}


def example(kind: type[Op]) -> Network:
    assert kind in DECIDING, f"write an example of {kind.__name__} into DECIDING, in this file"
    op, values = DECIDING[kind]
    return Network((Port("x", (2,)),), (Node("gates", op, ("x",) * values),), ("gates",))


def test_an_op_has_a_tag() -> None:
    assert set(DEFINED) == set(OPS.values()), "OPS of network/ops/tags.py"


@pytest.mark.parametrize("rule", [translate, write_node, module_of, pull], ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("op", DEFINED, ids=lambda op: op.__name__)
def test_an_op_is_lowered_written_and_pulled_through(op: type[Op], rule: Callable[..., Any]) -> None:
    assert rule.dispatch(op) is not rule.dispatch(Op), f"{rule.__module__}.{rule.__name__} has no rule for it"  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", WITH_GATES)
def test_what_an_op_with_gates_decided_is_noted(kind: type[Op]) -> None:
    decided = passed(example(kind), np.array([[0.5, -0.5]])).decided
    assert len(decided.get("gates", ())) == 1, f"maps/graph_forward.py does not note what {kind.__name__} decided"


@pytest.mark.parametrize("kind", WITH_GATES)
def test_slopes_and_bounds_of_gates_are_no_weights(kind: type[Op]) -> None:
    (item,) = inventory(example(kind))
    assert item.weights == 0, f"the report takes numbers of {kind.__name__} for weights: reporting/figures/inventory.py"


def test_points_are_looked_for_on_both_sides_of_gates() -> None:
    # The walls of a maximum over members are where two of these are equal: no number of the file says where.
    assert set(BENDS) == set(WITH_GATES) - {switches.Largest}, "BENDS of network/read/telling_points.py"


def test_random_networks_have_every_op() -> None:
    # A normalisation has roots, which the tests that use these networks do not expect.
    missing = {op.__name__ for op in DEFINED if op is not linear.Normalise} - vars(random_networks).keys()
    assert not missing, f"tests/helpers/random_networks.py never draws {sorted(missing)}"

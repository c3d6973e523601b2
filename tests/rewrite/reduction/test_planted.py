"""pf.reduce removes all that was planted, exactly that function stays, and the steps say why."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers import planted_redundancy as planted
from helpers.confirming import confirmed

BOX = pf.box(-1, 1)


def same_everywhere(net, found, domain, rng):
    """10,000 points, and pf.equivalent, which knows nothing of the steps."""
    before, after = pf.load(net), found.network
    X = rng.uniform(-1, 1, size=(10_000, before.input_dim)) * (1 if domain is BOX else 100)
    expected = before(X)
    np.testing.assert_allclose(after(X), expected, rtol=0, atol=1e-9 * (1 + np.abs(expected).max()))
    assert found.exact and found.difference == 0 and found.proved
    assert pf.equivalent(net, after, domain).word == "equal"


def irreducible(rng, domain, *dims):
    """A network of which nothing can be removed, and in which nothing is linear."""
    for _ in range(1000):
        net = planted.layers(rng, *dims)
        hyperplanes = {tuple(np.append(w, b) / w[0]) for w, b in zip(*net[0], strict=True)}
        distinct = len(hyperplanes) == dims[1]
        if distinct and set(pf.rewrite.stability(net, domain).behaviour) == {"switches"}:
            assert pf.reduce(net, domain).neurons_after == sum(dims[1:-1])
            return net
    raise AssertionError("no such network was drawn")


KINDS = [
    (planted.unread, "unread"),
    (planted.constant, "constant"),
    (planted.proportional, "proportional"),
    (planted.dead, "never active"),
    (planted.dead_everywhere, "never active"),
]
# On all of R^d every neuron of the first layer is active somewhere, and so is one with any signs behind it.
CASES = [
    pytest.param(plant, kind, layer, domain, id=f"{plant.__name__}-{layer}-{'everywhere' if domain is None else 'box'}")
    for plant, kind in KINDS
    for layer in (0, 1)
    for domain in (None, BOX)
    if not (plant is planted.dead and domain is None) and not (plant is planted.dead_everywhere and layer == 0)
]


@pytest.mark.parametrize("plant, kind, layer, domain", CASES)
def test_one_of_a_kind(plant, kind, layer, domain):
    rng = np.random.default_rng([layer, 5])
    net = irreducible(rng, domain, 2, 5, 4, 2)
    crowded = plant(rng, net, layer)
    found = pf.reduce(crowded, domain)
    # A constant that moved may let another neuron rest: then there are fewer still.
    assert found.neurons_before == 10 and found.neurons_after <= 9
    new = f"relu{layer + 1}[{len(net[layer][1])}]"
    assert any(step.kind == kind and new in (step.neuron, *step.into) and step.proof for step in found.steps)
    same_everywhere(crowded, found, domain, rng)


def test_everything_at_once():
    rng = np.random.default_rng(1)
    net = irreducible(rng, BOX, 2, 4, 4, 2)
    crowded = net
    for layer in (0, 1):
        for plant in (planted.unread, planted.constant, planted.proportional, planted.dead):
            crowded = plant(rng, crowded, layer)
    crowded = planted.identity_layer(planted.identity_layer(crowded, 0), 2)
    found = pf.reduce(crowded, BOX)
    assert found.neurons_before == 2 * (8 + 8) and found.neurons_after <= 8 and len(found.program.stages) == 2
    same_everywhere(crowded, found, BOX, rng)


def test_layers_that_pass_everything_on():
    rng = np.random.default_rng(2)
    net = irreducible(rng, None, 2, 4, 3, 1)
    for deeper in (planted.identity_layer(net, 0), planted.identity_layer(net, 1)):
        found = pf.reduce(deeper)
        assert found.neurons_after == 7 and [stage.width for stage in found.program.stages] == [4, 3]
        same_everywhere(deeper, found, None, rng)


def test_a_layer_that_is_always_active_is_no_layer():
    rng = np.random.default_rng(3)
    net = planted.layers(rng, 3, 4, 2)
    net[0] = net[0][0], np.full(4, 512.0)
    found = pf.reduce(net, BOX)
    assert found.neurons_after == 0 and found.counts == {"always active": 4}
    assert [type(node.op).__name__ for node in found.network.nodes] == ["Linear"]
    same_everywhere(net, found, BOX, rng)


@pytest.mark.parametrize("inputs, active, readers, left", [(1, 5, 3, 1), (2, 6, 3, 2), (4, 6, 2, 2), (4, 3, 5, 3)])
def test_active_neurons_become_as_many_as_their_rank(inputs, active, readers, left):
    """Of k neurons that are always active, min(k, inputs, readers) stay."""
    rng = np.random.default_rng(4)
    net = irreducible(rng, BOX, inputs, 4, readers)
    crowded = net
    for _ in range(active):
        crowded = planted.with_neuron(crowded, 0, planted.numbers(rng, inputs), 64.0, planted.numbers(rng, readers))
    found = pf.reduce(crowded, BOX)
    assert found.neurons_after == 4 + left
    X = rng.uniform(-1, 1, size=(10_000, inputs))
    np.testing.assert_allclose(found.network(X), pf.load(crowded)(X), rtol=0, atol=1e-9)
    assert confirmed(found).word == "equal"
    assert all(len(step.into) == left for step in found.steps if step.kind == "always active")


@pytest.mark.parametrize("pairs", [2, 3, 5])
def test_opposite_pairs(pairs):
    """k pairs cost k + r, r being the rank of the linear part, 1 with one input: on R^d, too, since a gate that stays
    and its opposite are as good as two new ones."""
    rng = np.random.default_rng(pairs)
    W, b = np.ones((pairs, 1)), np.arange(1, pairs + 1, dtype=float)
    net = [(np.vstack([W, -2 * W]), np.concatenate([b, -2 * b])), (planted.numbers(rng, 2, 2 * pairs), np.zeros(2))]
    everywhere, inside = pf.reduce(net), pf.reduce(net, pf.box(-8, 8))
    assert everywhere.neurons_after == inside.neurons_after == pairs + 1
    same_everywhere(net, everywhere, None, rng)
    assert confirmed(inside).word == "equal"


def test_split_relus_are_joined():
    """relu(z) written as relu(relu(z - c) - relu(c - z) + c), as splitters of ReLUs write it."""
    rng = np.random.default_rng(6)
    net = irreducible(rng, None, 3, 5, 2)
    (W, b), last = net
    c = planted.numbers(rng, 5)
    both = np.concatenate([np.eye(5), -np.eye(5)], axis=1)
    split = [(np.vstack([W, -W]), np.concatenate([b - c, c - b])), (both, c), last]
    found = pf.reduce(split)
    assert (found.neurons_before, found.neurons_after) == (15, 5)
    same_everywhere(split, found, None, rng)

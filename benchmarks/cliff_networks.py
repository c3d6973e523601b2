"""Networks that are hard for exactness, each beside an ordinary one of the same widths.

Tents fold an interval again and again, lattices are minima of maxima of affine forms, and degenerate networks have
small integers for weights: on all of these gates vanish where others do, which floats alone cannot prove.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from workers.archive import Floats, Layers


def tents(depth: int) -> Layers:
    """x -> 1 - |2 x - 1| so many times: 2^depth cells on [0, 1], two gates a layer."""
    fold = np.array([[2.0], [4.0]]), np.array([0.0, -2.0])  # a tent is relu(2 x) - relu(4 x - 2)
    join = np.array([[1.0, -1.0]])
    first, between = fold, (fold[0] @ join, fold[1])
    return [first, *[between] * (depth - 1), (join, np.zeros(1))]


def lattice(forms: int, groups: int, seed: int = 0, inputs: int = 2) -> Layers:
    """The smallest of the largest of groups of affine forms, as a tournament of pairs: max(a, b) = relu(a - b) + b."""
    random = np.random.default_rng(seed)
    weight, bias = (np.round(random.standard_normal(shape) * 2**20) / 2**20 for shape in ((forms, inputs), forms))
    chosen = np.concatenate([random.choice(forms, max(2, forms // 2), replace=False) for _ in range(groups)])
    players = [(weight[chosen], bias[chosen])]  # what is compared, as an affine function of the last layer's gates
    layers: Layers = []
    sizes = [max(2, forms // 2)] * groups
    while max(sizes) > 1:
        sizes = _play(layers, players, sizes, 1.0)
    sizes = [groups]
    while max(sizes) > 1:
        sizes = _play(layers, players, sizes, -1.0)
    return [*layers, players[-1]]


def _play(layers: Layers, players: Layers, sizes: list[int], sign: float) -> list[int]:
    """A round: a layer of gates, and who is left as a function of them; `sign` is -1 for minima."""
    gates: list[tuple[tuple[int, float], ...]] = []  # each a sum of players with factors
    winners: list[list[tuple[int, float]]] = []  # each a sum of gates with factors
    left, first = [], 0
    for size in sizes:
        for k in range(first, first + size - 1, 2):
            gates.append(((k, sign), (k + 1, -sign)))
            winners.append([(len(gates) - 1, sign)])
            _carry(gates, winners[-1], k + 1)
        if size % 2:
            winners.append([])
            _carry(gates, winners[-1], first + size - 1)
        first += size
        left.append((size + 1) // 2)
    weight, bias = players[-1]
    take, give = np.zeros((len(gates), len(weight))), np.zeros((len(winners), len(gates)))
    for gate, terms in enumerate(gates):
        for player, factor in terms:
            take[gate, player] += factor
    for winner, found in enumerate(winners):
        for gate, factor in found:
            give[winner, gate] += factor
    layers.append((take @ weight, take @ bias))
    players.append((give, np.zeros(len(winners))))
    return left


def _carry(gates: list[tuple[tuple[int, float], ...]], winner: list[tuple[int, float]], player: int) -> None:
    """A player goes on as relu(x) - relu(-x)."""
    for sign in (1.0, -1.0):
        gates.append(((player, sign),))
        winner.append((len(gates) - 1, sign))


def ordinary(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """Gaussian weights and biases."""
    random = np.random.default_rng(seed)
    return [_gaussian(random, inputs, outputs) for inputs, outputs in pairwise(widths)]


def _gaussian(random: np.random.Generator, inputs: int, outputs: int) -> tuple[Floats, Floats]:
    return random.standard_normal((outputs, inputs)) / np.sqrt(inputs), random.standard_normal(outputs) / 4


def integers(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """Small integers: walls that meet in many a point, gates that vanish on cells, parallel and equal walls."""
    random = np.random.default_rng(seed)
    return [
        (
            random.integers(-2, 3, (outputs, inputs)).astype(float),
            random.integers(-2, 3, outputs).astype(float),
        )
        for inputs, outputs in pairwise(widths)
    ]


def without_biases(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """Ordinary weights, every wall through the origin."""
    return [(weight, np.zeros_like(bias)) for weight, bias in ordinary(widths, seed)]


def duplicated(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """Ordinary, but every second neuron of a layer has the wall of the one before it: the same, or turned round."""
    layers = ordinary(widths, seed)
    for weight, bias in layers[:-1]:
        for k in range(1, len(weight), 2):
            factor = (1.0, -2.0)[k // 2 % 2]
            weight[k], bias[k] = factor * weight[k - 1], factor * bias[k - 1]
    return layers


def parallel(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """Ordinary, but the neurons of the first layer have walls of three directions."""
    layers = ordinary(widths, seed)
    weight = layers[0][0]
    weight[3:] = weight[np.arange(3, len(weight)) % 3]
    return layers


def meeting(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """Walls of the first layer that all pass through a point that is no float: (1/3, 1/3, ...)."""
    layers = ordinary(widths, seed)
    weight, bias = layers[0]
    weight[:] = np.round(8 * weight) * 3
    bias[:] = -weight.sum(axis=1) / 3
    return layers


def knots(count: int, order: str) -> Layers:
    """So many knots on a line, in their order, in the opposite one, or shuffled."""
    random = np.random.default_rng(0)
    at = np.sort(random.uniform(-1, 1, count))
    if order == "reversed":
        at = at[::-1]
    elif order == "shuffled":
        random.shuffle(at)
    return [(np.ones((count, 1)), -at), (np.ones((1, count)), np.zeros(1))]

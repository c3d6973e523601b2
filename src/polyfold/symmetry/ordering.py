"""One order of neurons, whatever permutation a network comes in.

Neurons are sorted by what does not depend on any order: slopes, weights on the inputs, bias, weights into the
outputs; then, as long as some are equal, by the sorted weights on neurons that already differ. Where that ends with
equal neurons, each in turn is put first and the smallest network is taken. (Equal neurons that have the same weights
on everything can be swapped freely, and one of them is enough.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

from polyfold._base.clock import tick
from polyfold.errors import LimitError, how_many
from polyfold.program.exact_program import ExactProgram

Colours = list[list[int]]
"""For each hidden layer one number per neuron: its place in the layer, the same for those that are equal."""

_MAX_ORDERS = 2000


def canonical_order(program: ExactProgram, *, max_orders: int = _MAX_ORDERS) -> list[tuple[int, ...]]:
    """For each hidden layer the neurons in their order: the old neuron's number at each new place.

    >>> from polyfold.program.exact_program import from_layers
    >>> canonical_order(from_layers([([[3], [1], [2]], [0, 0, 0]), ([[1, 1, 1]], [0])]))
    [(1, 2, 0)]
    """
    return _Search(program, max_orders).best(_refined(program, _first(program)))[1]


class _Search:
    def __init__(self, program: ExactProgram, max_orders: int) -> None:
        self.program = program
        self.max_orders = max_orders
        self.tried = 0

    def best(self, colours: Colours) -> tuple[list[Any], list[tuple[int, ...]]]:
        """The smallest network among the orders that the colours allow, as its weights, and its order."""
        tied = _first_tie(colours)
        if tied is None:
            self.tried += 1
            if self.tried > self.max_orders:
                raise LimitError(
                    f"more than {how_many(self.max_orders, 'order')} of equal neurons would have to be compared; the "
                    "network has many neurons that only their place tells apart"
                )
            orders = [tuple(sorted(range(len(layer)), key=layer.__getitem__)) for layer in colours]
            return _weights(self.program, orders), orders
        layer, members = tied
        different = _not_interchangeable(self.program, layer + 1, members)
        if len(different) == 1:
            return self.best(_refined(self.program, _in_any_order(colours, layer, members)))
        tries = [self.best(_refined(self.program, _put_first(colours, layer, members, first))) for first in different]
        return min(tries, key=lambda found: found[0])


def _first(program: ExactProgram) -> Colours:
    colours = []
    for layer, stage in enumerate(program.stages, start=1):
        inputs, outputs = stage.rows.terms.get(0), program.output.terms.get(layer)
        colours.append(
            _ranked(
                (
                    stage.slope_on[i],
                    stage.slope_off[i],
                    () if inputs is None else tuple(inputs[i]),
                    stage.rows.bias[i],
                    () if outputs is None else tuple(outputs[:, i]),
                )
                for i in range(stage.width)
            )
        )
    return colours


def _refined(program: ExactProgram, colours: Colours) -> Colours:
    """Colours told apart by weights on other neurons until nothing changes."""
    while True:
        tick()
        found = [
            layer if _settled(layer) else _ranked(_signature(program, colours, number, i) for i in range(len(layer)))
            for number, layer in enumerate(colours, start=1)
        ]
        if found == colours:
            return found
        colours = found


def _signature(program: ExactProgram, colours: Colours, layer: int, neuron: int) -> Hashable:
    """A neuron's colour, and the weights between it and neurons of each colour."""
    tick()
    terms = program.stages[layer - 1].rows.terms
    into = tuple(_sorted(colours[source - 1], matrix[neuron]) for source, matrix in sorted(terms.items()) if source)
    out_of = tuple(
        (number, _sorted(colours[number - 1], stage.rows.terms[layer][:, neuron]))
        for number, stage in enumerate(program.stages, start=1)
        if layer in stage.rows.terms
    )
    return colours[layer - 1][neuron], into, out_of


def _sorted(colours: list[int], weights: Any) -> tuple[tuple[int, Any], ...]:
    return tuple(sorted((colour, weight) for colour, weight in zip(colours, weights, strict=True) if weight))


def _ranked(keys: Iterator[Any]) -> list[int]:
    """The place of each key among all of them: how many are smaller."""
    listed = list(keys)
    places: dict[Any, int] = {}
    for place, key in enumerate(sorted(listed)):
        places.setdefault(key, place)
    return [places[key] for key in listed]


def _settled(layer: list[int]) -> bool:
    return len(set(layer)) == len(layer)


def _first_tie(colours: Colours) -> tuple[int, list[int]] | None:
    for number, layer in enumerate(colours):
        if not _settled(layer):
            tied = min(colour for colour, count in Counter(layer).items() if count > 1)
            return number, [i for i, colour in enumerate(layer) if colour == tied]
    return None


def _put_first(colours: Colours, layer: int, members: list[int], first: int) -> Colours:
    found = [list(each) for each in colours]
    for member in members:
        found[layer][member] += member != first
    return found


def _in_any_order(colours: Colours, layer: int, members: list[int]) -> Colours:
    found = [list(each) for each in colours]
    for place, member in enumerate(members):
        found[layer][member] += place
    return found


def _not_interchangeable(program: ExactProgram, layer: int, members: list[int]) -> list[int]:
    """One neuron of each set that have the same weights into and out of everything."""
    seen: dict[Hashable, int] = {}
    terms = program.stages[layer - 1].rows.terms
    for member in members:
        into = tuple(tuple(matrix[member]) for matrix in terms.values())
        out_of = tuple(tuple(rows.terms[layer][:, member]) for rows in program.affines if layer in rows.terms)
        seen.setdefault((into, out_of), member)
    return list(seen.values())


def _weights(program: ExactProgram, orders: list[tuple[int, ...]]) -> list[Any]:
    """All weights between neurons in this order: the rest is the same in all orders that are compared."""
    found: list[Any] = []
    for number, stage in enumerate(program.stages):
        for source, matrix in sorted(stage.rows.terms.items()):
            if source:
                found += matrix[list(orders[number])][:, list(orders[source - 1])].ravel().tolist()
    return found

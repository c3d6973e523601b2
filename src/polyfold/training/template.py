"""A network with places for weights: which array of the model becomes which constant of the Network.

The places of a torch module are found, not guessed. A copy is filled with random numbers and read; a constant that
holds an array's very numbers is a place for that array. Then the copy is filled with weights that were recorded, and
the template must be the network that is read from it, constant by constant. A model in which weights are computed with
before they become constants (weight normalisation) has no template, and is read with each snapshot's weights; that
traces it once, like all that reads a module (network/read/torch_trace.py). A template is for what has no module any
more: files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.errors import NetworkError
from polyfold.network.graph import Network, Node
from polyfold.network.load import load
from polyfold.network.ops.op import constant
from polyfold.network.ops.unrounded import Unrounded
from polyfold.network.same import same_networks
from polyfold.training.weights import Weights, kind_of, module_with, weights_of


@dataclass(frozen=True)
class ConstantPath:
    """Where an array goes: a field of a node's operation, perhaps transposed."""

    node: str
    field: str
    name: str
    transposed: bool


@dataclass(frozen=True, eq=False)
class Template:
    """A network whose constants at `places` are to be filled in."""

    network: Network
    places: tuple[ConstantPath, ...]

    def filled(self, weights: Mapping[str, npt.NDArray[Any]]) -> Network:
        """The network with these weights."""
        changes: dict[str, dict[str, Any]] = {}
        for place in self.places:
            array = weights[place.name]
            changes.setdefault(place.node, {})[place.field] = array.T if place.transposed else array

        def changed(node: Node) -> Node:
            if node.name not in changes:
                return node
            arrays = {
                field: constant(array.reshape(getattr(node.op, field).shape))
                for field, array in changes[node.name].items()
            }
            return replace(node, op=replace(node.op, **arrays))

        return replace(self.network, nodes=tuple(changed(node) for node in self.network.nodes))


@dataclass(frozen=True, eq=False)
class Blueprint:
    """How weights become a network: by a template, or by a model that is read anew with other weights."""

    known: Template | None
    model: Any
    input_shape: Any
    first: Weights

    @cached_property
    def template(self) -> Template | None:
        if self.known is None and self.model is not None:
            return _found(self.model, self.input_shape, self.first)
        return self.known

    @cached_property
    def _counts(self) -> list[str]:
        """Arrays of whole numbers, which a template says nothing of: it holds as long as they stay the same."""
        return [name for name, array in self.first.items() if not np.issubdtype(array.dtype, np.floating)]

    def network(self, weights: Mapping[str, npt.NDArray[Any]]) -> Network:
        """The network with these weights, under the model's names."""
        if self.template is not None and all(np.array_equal(weights[name], self.first[name]) for name in self._counts):
            return self.template.filled(weights)
        if self.model is None:
            raise NetworkError(
                "the weights of this recording become a network only through the model that was recorded: "
                "pf.training.open(path, model=...) with a module of the same architecture"
            )
        return load(module_with(self.model, weights), input_shape=self.input_shape)


def blueprint_of(model: Any, input_shape: Any, first: Weights) -> Blueprint:
    """The blueprint of a model that has weights. A torch module is read when its template is first needed."""
    kind = kind_of(model)
    if kind == "torch":
        return Blueprint(None, model, input_shape, first)
    if input_shape is not None:
        raise NetworkError(f"input_shape= is only for torch modules; a {type(model).__name__} tells its own")
    network = load(model)
    weight, bias = ("coefs_.{}", "intercepts_.{}") if kind == "sklearn" else ("{}.weight", "{}.bias")
    places = []
    for k in range(len(first) // 2):
        places.append(ConstantPath(f"linear{k + 1}", "weight", weight.format(k), kind == "sklearn"))
        places.append(ConstantPath(f"linear{k + 1}", "bias", bias.format(k), False))
    return Blueprint(Template(network, tuple(places)), None, None, first)


def _found(model: Any, input_shape: Any, first: Weights) -> Template | None:
    read = load(module_with(model, first), input_shape=input_shape)
    other = module_with(model, _random(first))
    # As the module holds it: rounded to its precision, and shared arrays the same.
    filling = weights_of(other) or {}
    try:
        network = load(other, input_shape=input_shape)
    except NetworkError:
        # The model itself can be read: what random numbers make of it is no matter.
        return None
    places = []
    for node in network.nodes:
        for field in fields(node.op):
            value = getattr(node.op, field.name)
            if isinstance(value, np.ndarray):
                places += _place(node.name, field.name, value, filling)
    if any(isinstance(node.op, Unrounded) for node in network.nodes):
        # Its numbers are no arrays of floats, which is all that templates keep.
        return None
    template = Template(network, tuple(places))
    return template if same_networks(template.filled(first), read) else None


def _place(node: str, field: str, value: npt.NDArray[Any], filling: Weights) -> list[ConstantPath]:
    for name, array in filling.items():
        if array.size != value.size or not np.issubdtype(array.dtype, np.floating):
            continue
        for transposed in (False, True):
            given = array.T if transposed else array
            if np.array_equal(given.ravel(), value.ravel()):
                return [ConstantPath(node, field, name, transposed)]
    return []


def _random(weights: Weights) -> Weights:
    """Random numbers in place of all floats; variances stay positive."""
    rng = np.random.default_rng(0)
    filled = {}
    for name, array in weights.items():
        numbers = rng.uniform(0.5, 1.5, size=array.shape)
        if not name.endswith("running_var"):
            # Of such a size that values neither vanish nor overflow behind many layers.
            inputs = array.size // len(array) if array.ndim > 1 and len(array) else 1
            numbers *= rng.choice([-1.0, 1.0], size=array.shape) / np.sqrt(inputs)
        filled[name] = numbers.astype(array.dtype) if np.issubdtype(array.dtype, np.floating) else array
    return filled

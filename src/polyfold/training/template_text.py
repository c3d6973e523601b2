"""Templates as JSON: every operation by its tag and fields, arrays as base64 text."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from polyfold.atlas.stored_program import Json, array_from, array_text
from polyfold.network.graph import Network, Node, Port
from polyfold.network.head import head_from, head_json
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.op import constant
from polyfold.network.ops.tags import OPS, tag_of
from polyfold.training.template import ConstantPath, Template


def template_text(template: Template) -> Json:
    """A template as JSON; what stands at the places is not kept."""
    network = template.network
    taken = {(place.node, place.field) for place in template.places}
    return {
        "inputs": [[port.name, list(port.shape)] for port in network.inputs],
        "nodes": [
            {
                "name": node.name,
                "inputs": list(node.inputs),
                "op": tag_of(node.op),
                "fields": {
                    field.name: {"open": list(getattr(node.op, field.name).shape)}
                    if (node.name, field.name) in taken
                    else _value_text(getattr(node.op, field.name))
                    for field in fields(node.op)
                },
            }
            for node in network.nodes
        ],
        "outputs": list(network.outputs),
        "source": network.source,
        "head": head_json(network.head),
        "notes": list(network.notes),
        "places": [asdict(place) for place in template.places],
    }


def template_from(text: Json) -> Template:
    """The template of a text, with zeros at its places. What does not fit raises what reading any text can raise."""
    nodes = tuple(
        Node(
            each["name"],
            OPS[each["op"]](**{name: _value_from(value) for name, value in each["fields"].items()}),
            tuple(each["inputs"]),
        )
        for each in text["nodes"]
    )
    inputs = tuple(Port(name, tuple(shape)) for name, shape in text["inputs"])
    network = Network(
        inputs,
        nodes,
        tuple(text["outputs"]),
        text["source"],
        head_from(text.get("head")),
        tuple(text.get("notes", ())),
    )
    return Template(network, tuple(ConstantPath(**place) for place in text["places"]))


def _value_text(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": array_text(value)}
    if isinstance(value, Window):
        return {"window": {field.name: _value_text(getattr(value, field.name)) for field in fields(value)}}
    if isinstance(value, tuple):
        return {"tuple": [_value_text(item) for item in value]}
    if hasattr(value, "tocsr"):
        parts = (value.data, value.indices, value.indptr)
        return {"sparse": [array_text(part) for part in parts], "shape": [int(n) for n in value.shape]}
    if value is None:
        return None
    return float(value) if isinstance(value, float) else int(value)


def _value_from(text: Any) -> Any:
    if not isinstance(text, dict):
        return text
    if "open" in text:
        return constant(np.zeros(text["open"]))
    if "array" in text:
        return _array(text["array"])
    if "window" in text:
        return Window(**{name: _value_from(value) for name, value in text["window"].items()})
    if "sparse" in text:
        from scipy.sparse import csr_array

        data, indices, start = (_array(part) for part in text["sparse"])
        return csr_array((data, indices, start), shape=tuple(text["shape"]))
    return tuple(_value_from(item) for item in text["tuple"])


def _array(text: Json) -> Any:
    return array_from(text, "int64" if "int64" in text else "float64")

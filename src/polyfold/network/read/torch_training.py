"""Torch models in training mode: which of their layers work differently there, and how to read them in evaluation."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

from polyfold.errors import how_many

IN_EVALUATION = "it is read as in evaluation mode, which is another function"
_LISTED = 3

# Operators that have a switch for training, under one of these names, and by what they differ if it is on.
_SWITCHES = ("train", "training")
_SWITCHED = {
    **dict.fromkeys(("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "rnn_relu"), "dropout"),
    "batch_norm": "the batch's own statistics",
    "rrelu": "random slopes",
}


def training_note(module: Any, evaluated: Any, run: Callable[[Any], Sequence[Any]]) -> str | None:
    """What to say of a module some of whose parts are in training mode; None if that makes no difference.

    `evaluated` is a copy in evaluation mode, `run` gives the outputs of a module at some inputs.
    """
    if not any(part.training for part in module.modules()):
        return None
    layers = [f"{path!r} ({type(part).__name__})" for path, part in _named_parts(module) if _differs(part)]
    if layers:
        rest = f" and {len(layers) - _LISTED} more" if len(layers) > _LISTED else ""
        where = f"where {', '.join(layers[:_LISTED])}{rest} {'works' if len(layers) == 1 else 'work'} differently"
    elif _outputs_differ(module, evaluated, run):
        where = "in which its outputs are others (forward() looks at self.training)"
    else:
        return None
    return f"{type(module).__name__} is in training mode, {where}: {IN_EVALUATION}; call eval() first if that is meant"


def _named_parts(module: Any) -> list[tuple[str, Any]]:
    """The parts of a module by their paths; compiled parts by those that they have in the copy, which is not."""
    return [(path.replace("_orig_mod.", ""), part) for path, part in module.named_modules()]


def _differs(part: Any) -> bool:
    """Whether a layer is in training mode and computes something else there."""
    if not part.training:
        return False
    if isinstance(part, torch.nn.modules.dropout._DropoutNd):
        return bool(part.p > 0)
    if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
        return part.running_mean is not None
    if isinstance(part, torch.nn.RReLU):
        return bool(part.lower != part.upper)
    if isinstance(part, torch.nn.RNNBase):
        return bool(part.dropout > 0 and part.num_layers > 1)
    return isinstance(part, torch.nn.MultiheadAttention) and bool(part.dropout > 0)


def _outputs_differ(module: Any, evaluated: Any, run: Callable[[Any], Sequence[Any]]) -> bool:
    """Whether a copy that is left in training mode, in the type of the evaluated one, gives other outputs."""
    trained = copy.deepcopy(evaluated)
    modes = {path: part.training for path, part in _named_parts(module)}
    for path, part in trained.named_modules():
        part.training = modes[path]
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        expected = run(evaluated)
        try:
            found = run(trained)
        except (RuntimeError, ValueError, TypeError):
            return True
    return len(found) != len(expected) or not all(
        a.shape == b.shape and torch.equal(a, b) for a, b in zip(found, expected, strict=True)
    )


def in_evaluation(program: Any) -> tuple[Any, tuple[str, ...]]:
    """An exported program with all switches for training off, and notes on those that were on."""
    if not any(_switch(node) is not None for node in program.graph.nodes):
        return program, ()
    changed = copy.copy(program)
    changed._graph_module = copy.deepcopy(program.graph_module)
    places = []
    for node in changed.graph_module.graph.nodes:
        place = _switch(node)
        if place is None:
            continue
        op = _op(node)
        if not (_SWITCHED[op] == "dropout" and _probability(node) == 0):
            places.append(f"{node.name!r} ({op})")
        node.args = (*node.args[:place], False, *node.args[place + 1 :])
    changed.graph_module.recompile()
    if not places:
        return changed, ()
    rest = f" and {how_many(len(places) - _LISTED, 'other')}" if len(places) > _LISTED else ""
    verb = "is" if len(places) == 1 else "are"
    note = f"{', '.join(places[:_LISTED])}{rest} {verb} in training mode in the exported program: {IN_EVALUATION}"
    return changed, (note,)


def _op(node: Any) -> str:
    schema = getattr(node.target, "_schema", None)
    return "" if schema is None else str(schema.name).removeprefix("aten::").removesuffix("_")


def _switch(node: Any) -> int | None:
    """Where among the arguments of a node a switch for training is that is on."""
    if _op(node) not in _SWITCHED:
        return None
    for place, argument in enumerate(node.target._schema.arguments[: len(node.args)]):
        if argument.name in _SWITCHES and node.args[place] is True:
            # Without statistics of its own a batch norm knows one mode only.
            return None if _op(node) == "batch_norm" and node.args[3] is None else place
    return None


def _probability(node: Any) -> float:
    names = [argument.name for argument in node.target._schema.arguments]
    return float(node.args[names.index("dropout" if "dropout" in names else "p")])

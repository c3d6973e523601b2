"""Operators that torch.export would take apart in a way that hides what they are: they are replaced before that."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from polyfold.network.read.builder import Builder
from polyfold.network.read.torch_ops.refused import JUMPS
from polyfold.network.read.torch_ops.site import TORCH_OPS, TorchSite

handles = TORCH_OPS.family("Switches")


def _softshrink(graph: Any, x: Any, lambd: float = 0.5) -> Any:
    """x - clamp(x): torch's own parts multiply by a sign, which jumps, while the whole does not."""
    clamped = graph.call_function(torch.ops.aten.clamp.default, (x, -lambd, lambd))
    return graph.call_function(torch.ops.aten.sub.Tensor, (x, clamped))


# What torch itself can take apart into operators that are read.
TAKEN_APART = (
    *("lerp", "addcmul", "addcdiv", "baddbmm", "cross", "linalg_cross", "diff", "trapezoid", "pairwise_distance"),
)

REWRITES: dict[Any, Callable[..., Any]] = {torch.ops.aten.softshrink.default: _softshrink}


@handles("softshrink", becomes="`Clamp`, `Subtract`")
def _rewritten(site: TorchSite, *arguments: Any) -> None:
    raise AssertionError(f"{site.name}: {site.op} should have been replaced before it was read")


@TORCH_OPS.family("Affine maps")(*TAKEN_APART, becomes="its parts", limits="as far as these can be read")
def _taken_apart(site: TorchSite, *arguments: Any, **options: Any) -> None:
    raise AssertionError(f"{site.name}: {site.op} should have been taken apart before it was read")


def parts(program: Any) -> dict[Any, Any]:
    """Torch's own decompositions of those operators in a program that are only read in parts, if there is one."""
    names = {f"aten::{name}" for name in TAKEN_APART}
    if not any(getattr(getattr(node.target, "_schema", None), "name", "") in names for node in program.graph.nodes):
        return {}
    # All of them, because the parts of one may hold another.
    return {
        target: way
        for target, way in torch.export.default_decompositions().items()
        if target.name().partition(".")[0] in names
    }


def rewrite(program: Any) -> Any:
    """The exported program with these operators replaced; the one given is left alone."""
    for node in program.graph.nodes:
        if node.target is torch.ops.aten.hardshrink.default:
            # Its parts would be refused as well, but under names that the user never wrote.
            TorchSite(Builder("torch"), node.name, "hardshrink", node.target, None).refuse(JUMPS)
    if not any(node.target in REWRITES for node in program.graph.nodes):
        return program
    rewritten = copy.copy(program)
    rewritten._graph_module = copy.deepcopy(program.graph_module)
    graph = rewritten.graph_module.graph
    for node in list(graph.nodes):
        if node.target in REWRITES:
            with graph.inserting_before(node):
                replacement = REWRITES[node.target](graph, *node.args, **node.kwargs)
            for part in (replacement, replacement.args[1]):
                # Names of the user's modules come from here.
                part.meta = dict(node.meta)
            replacement.name = node.name
            node.replace_all_uses_with(replacement)
            graph.erase_node(node)
    rewritten.graph_module.recompile()
    return rewritten

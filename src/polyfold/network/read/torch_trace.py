"""The graph of a torch module, by torch.export: we read what it computes, not what it is made of.

The module is copied, put in evaluation mode and traced in float64 with a batch of a few samples. The traced graph is
made functional (no op writes into another one's value), so in-place, nested and reused activations need no special
care.

Tracing takes long, and a module that is trained is asked about again and again. So the last graphs are remembered,
without the weights, under the recipe of what was traced: the operators that forward() ran, one after the other
(torch_recipe.py). A module of which forward() does just that now has this graph, with the weights that it has now;
whether it is the same module, a changed one or a copy plays no part.
"""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import logging
import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from polyfold.errors import NetworkError, how_many
from polyfold.network.ops.op import Shape
from polyfold.network.read.builder import WHERE_TO_LOOK
from polyfold.network.read.torch_ops import parts, rewrite
from polyfold.network.read.torch_recipe import NoRecipeError, named_tensors, recipe_of

# Samples in the traced batch: a prime that is unlikely to be the length of another axis.
BATCH = 7

# What a user's forward() and torch.export raise for an input of the wrong shape or an untraceable program.
FORWARD_ERRORS = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError)


@dataclass(frozen=True, eq=False)
class Traced:
    """A functional graph, and the numbers of its placeholders that are no inputs."""

    graph: Any
    signature: Any
    constants: Mapping[str, Any]

    @classmethod
    def of(cls, program: Any) -> Traced:
        """An exported program, made functional."""
        try:
            with warnings.catch_warnings(), torch_log_silenced():
                warnings.simplefilter("ignore")
                program = rewrite(program).run_decompositions(parts(program))
        except FORWARD_ERRORS as error:
            raise NetworkError(
                f"torch.export cannot make the traced program functional: {first_line(error)}; "
                "if the model holds sparse tensors, make them dense (to_dense()): polyfold keeps their zeros out by "
                "itself"
            ) from error
        numbers = {**program.constants, **program.state_dict}
        names = {**_keys(program.graph_signature), **program.graph_signature.inputs_to_lifted_tensor_constants}
        return cls(program.graph, program.graph_signature, {name: numbers[key].detach() for name, key in names.items()})


@dataclass(frozen=True, eq=False)
class _Remembered:
    """A graph without the weights."""

    graph: Any
    signature: Any
    lifted: Mapping[str, Any]

    def with_weights_of(self, module: Any) -> Traced:
        tensors = named_tensors(module)
        weights = {name: tensors[key].detach() for name, key in _keys(self.signature).items() if key in tensors}
        return Traced(self.graph, self.signature, {**weights, **self.lifted})


def _keys(signature: Any) -> dict[str, str]:
    """What the module calls the parameters and buffers that placeholders stand for."""
    return {**signature.inputs_to_parameters, **signature.inputs_to_buffers}


# The graphs of so many recipes are remembered, those that were used last.
REMEMBERED = 32
_remembered: OrderedDict[bytes, _Remembered] = OrderedDict()
_lock = threading.Lock()


def _recall(recipe: bytes) -> _Remembered | None:
    with _lock:
        if recipe in _remembered:
            _remembered.move_to_end(recipe)
        return _remembered.get(recipe)


def _remember(recipe: bytes, traced: Traced) -> None:
    weights = _keys(traced.signature)
    lifted = {name: numbers for name, numbers in traced.constants.items() if name not in weights}
    with _lock:
        _remembered[recipe] = _Remembered(traced.graph, traced.signature, lifted)
        while len(_remembered) > REMEMBERED:
            _remembered.popitem(last=False)


def evaluation_copy(module: Any) -> Any:
    """A copy of the module in evaluation mode, on the CPU, and not compiled."""
    name = type(module).__name__
    for part in module.modules():
        # Before copying: a copy has no hooks that could be refused.
        uncompiled(part)
    if any(isinstance(p, torch.nn.parameter.UninitializedParameter) for p in module.parameters()):
        raise NetworkError(f"{name} has lazy layers without weights: run it once on an example, then load it")
    try:
        copied = copy.deepcopy(module).cpu().eval().requires_grad_(False)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise NetworkError(f"{name} cannot be copied for reading: {_what_to_do(module) or error}") from error
    for part in list(copied.modules()):
        part._modules.update({child: uncompiled(inside) for child, inside in part._modules.items()})
    return copied


def _what_to_do(module: Any) -> str:
    """How to make a module one that torch copies; empty where nothing is known."""
    for name, part in module.named_modules():
        for key, value in vars(part).items():
            if isinstance(value, torch.Tensor) and not value.is_leaf:
                weight = f"{name}.{key}".lstrip(".")
                return (
                    f"torch does not copy {weight!r}, which is computed from other tensors; make it a parameter again: "
                    f"after pruning by torch.nn.utils.prune.remove(layer, {key!r}), after weight_norm by "
                    "torch.nn.utils.remove_weight_norm(layer)"
                )
    return ""


def uncompiled(module: Any) -> Any:
    """The module that was compiled: it computes the same, apart from hooks of its own, which copies lose."""
    if type(module).__name__ != "OptimizedModule" or not hasattr(module, "_orig_mod"):
        return module
    if module._forward_hooks or module._forward_pre_hooks:
        raise NetworkError(
            f"the compiled {type(module._orig_mod).__name__} has hooks of its own, which cannot be read: register them "
            "on the module that was compiled, not on what torch.compile returns"
        )
    return module._orig_mod


def trace(module: Any, shapes: Sequence[Shape], dtype: Any, batch: int = BATCH) -> Traced:
    """The graph of an evaluation copy for inputs of these shapes."""
    examples = tuple(torch.zeros(batch, *shape, dtype=dtype) for shape in shapes)
    with warnings.catch_warnings(), torch.no_grad(), torch_log_silenced():
        warnings.simplefilter("ignore")
        recipe = _recipe(module, examples)
        earlier = None if recipe is None else _recall(recipe)
        if earlier is not None:
            return earlier.with_weights_of(module)
        traced = Traced.of(_exported(module, examples))
    if recipe is not None:
        _remember(recipe, traced)
    return traced


def _recipe(module: Any, examples: Sequence[Any]) -> bytes | None:
    """What the module does to the examples; None if that cannot be told, an error if it does not run."""
    try:
        return recipe_of(module, examples)
    except (*FORWARD_ERRORS, NotImplementedError, NoRecipeError):
        pass
    try:
        # Its own error says more than that of torch.export, which overlooks mixed float types.
        module(*examples)
    except FORWARD_ERRORS as error:
        given = ", ".join(str(tuple(example.shape)) for example in examples)
        samples = how_many(len(examples[0]), "sample")
        raise NetworkError(
            f"{type(module).__name__} does not run with an input of shape {given} ({samples}): "
            f"{first_line(error)}; if that is not its input's shape, pass input_shape=(...), without the batch "
            "axis, or a list of shapes for several inputs"
        ) from error
    return None


def _exported(module: Any, examples: tuple[Any, ...]) -> Any:
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return torch.export.export(module, examples)
    except FORWARD_ERRORS as error:
        raise NetworkError(
            f"{type(module).__name__} runs, but torch.export cannot trace it: {_untraceable(error)}"
        ) from error


def nothing_compiled() -> Any:
    """Within it, functions that torch.compile has compiled run as they were written."""
    return torch.compiler.set_stance("force_eager")


def _untraceable(error: Exception) -> str:
    """Why torch.export gave up, and what to do."""
    text = str(error)
    if "data-dependent" in text:
        # The last line of the user's own code that torch quotes.
        lines = re.findall(r'File "([^"]+)", line (\d+), in', text.partition("The following call raised this error")[2])
        code = linecache.getline(lines[-1][0], int(lines[-1][1])).strip() if lines else ""
        where = f" at `{code}`" if code else ""
        return (
            f"what it does is decided{where} by numbers that it computed (an if, a while, or a Python number made of a "
            "tensor), so that it may jump; write it with torch.where, maximum, minimum or clamp"
        )
    return f"{first_line(error)}; keep everything in forward() torch tensors, and {WHERE_TO_LOOK}"


def first_line(error: Exception) -> str:
    """What an error of torch says in short."""
    return str(error).strip().split("\n")[0] or type(error).__name__


@contextmanager
def torch_log_silenced() -> Iterator[None]:
    """Torch logs whole tracebacks and graphs before it raises; our error says what matters in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)

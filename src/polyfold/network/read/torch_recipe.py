"""What forward() does, op by op: by this a torch module shows whether it is what was traced before.

torch.export runs forward() once and writes down the operators that it calls. So does a Recipe, at a hundredth of the
cost and without keeping more than a digest: every operator with all its arguments, in order, the module that it is in
and the function that it is for. A tensor is known by where
it is from: an input, a parameter or buffer (by its name, shape and strides; its numbers do not count), an earlier
operator, or else by its numbers. Whatever decides what forward() does, a flag of the module, a hook, a global variable,
another forward(), it is the same computation if and only if it is the same recipe.

Operators are not all that a forward() can do: it may take numbers out of tensors into Python. Then there is no recipe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# By these a tensor's numbers or their memory come into Python without an operator that could be seen. (item() and its
# like are operators.)
_WAYS_OUT = frozenset({"numpy", "tolist", "__array__", "data_ptr", "__dlpack__", "untyped_storage", "storage", "set_"})


class NoRecipeError(Exception):
    """What forward() does cannot be told from its operators."""


def recipe_of(module: Any, examples: Sequence[Any]) -> bytes:
    """The digest of what a module does to these inputs; raises NoRecipeError, or what forward() itself raises.

    The module must be a copy that nobody else uses: for a moment it has hooks.
    """
    digest = hashlib.sha256()
    for path, part in module.named_modules(remove_duplicate=False):
        digest.update(f"{path}: {type(part).__module__}.{type(part).__qualname__}\n".encode())
    operators = _Operators(digest, {**named_tensors(module), **{f" input {k}": x for k, x in enumerate(examples)}})
    with ExitStack() as stack:
        for path, part in module.named_modules():
            stack.callback(part.register_forward_pre_hook(_telling(digest, f"into {path}\n")).remove)
            stack.callback(part.register_forward_hook(_telling(digest, f"out of {path}\n")).remove)
        stack.enter_context(torch.no_grad())
        stack.enter_context(_Functions(digest))
        stack.enter_context(operators)
        outputs = module(*examples)
    operators.tell("returns", outputs)
    return digest.digest()


def named_tensors(module: Any) -> dict[str, Any]:
    """Parameters and buffers by their names, those with several names too."""
    return dict(
        [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)],
    )


def _telling(digest: Any, text: str) -> Any:
    def tell(*ignored: Any) -> None:
        digest.update(text.encode())

    return tell


class _Functions(TorchFunctionMode):  # type: ignore[misc]  # torch has no types for it
    """Writes the names of functions into a digest, after which graphs call their nodes; stops at ways out of torch."""

    def __init__(self, digest: Any) -> None:
        super().__init__()
        self.digest = digest

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name in _WAYS_OUT:
            raise NoRecipeError(name)
        self.digest.update(f"{name}: ".encode())
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):  # type: ignore[misc]  # torch has no types for it
    """Writes every operator that torch runs into a digest."""

    def __init__(self, digest: Any, named: Mapping[str, Any]) -> None:
        super().__init__()
        self.digest = digest
        # Tensors are told apart by their ids, so none of them may be forgotten before the end.
        self.kept: list[Any] = []
        self.known: dict[int, str] = {}
        for name, tensor in named.items():
            if id(tensor) not in self.known:
                self._know(tensor, f"{name} {_layout(tensor)}")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.tell(str(func), (args, kwargs or {}))
        results = func(*args, **(kwargs or {}))
        for tensor in _tensors_in(results):
            # The numbers of a mask decide how long what it selects is.
            self.digest.update(f"{_layout(tensor)}\n".encode())
            if id(tensor) not in self.known:
                self._know(tensor, f"%{len(self.kept)}")
        return results

    def tell(self, what: str, items: Any) -> None:
        """Write down a call and what it is given."""
        self.digest.update(f"{what} {self._words(items)}\n".encode())

    def _know(self, tensor: Any, name: str) -> None:
        self.known[id(tensor)] = name
        self.kept.append(tensor)

    def _words(self, item: Any) -> str:
        if isinstance(item, torch.Tensor):
            if id(item) not in self.known:
                self._know(item, self._numbers_of(item))
            return self.known[id(item)]
        if isinstance(item, Mapping):
            return "{" + ", ".join(f"{key!r}: {self._words(value)}" for key, value in item.items()) + "}"
        if isinstance(item, (tuple, list)):
            return "(" + ", ".join(map(self._words, item)) + ")"
        return f"{type(item).__name__} {item!r}"

    def _numbers_of(self, tensor: Any) -> str:
        """A tensor that forward() has from elsewhere, by its numbers; they must not be those of another one."""
        if type(tensor) is not torch.Tensor or tensor.layout is not torch.strided or tensor.is_quantized:
            raise NoRecipeError(str(type(tensor)))
        with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
            memory = {_memory(other) for other in self.kept}
            if _memory(tensor) in memory:
                raise NoRecipeError("shared memory")
            raw = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            return f"{_layout(tensor)} {hashlib.sha256(np.ascontiguousarray(raw).tobytes()).hexdigest()}"


def _layout(tensor: Any) -> str:
    return f"{tensor.dtype} {tuple(tensor.shape)} {tensor.stride()} {tensor.storage_offset()}"


def _memory(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _tensors_in(results: Any) -> Iterator[Any]:
    if isinstance(results, torch.Tensor):
        yield results
    elif isinstance(results, (tuple, list)):
        for each in results:
            yield from _tensors_in(each)

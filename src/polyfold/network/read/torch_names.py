"""What an operator of a traced torch program is called, by torch and by the user."""

from __future__ import annotations

from typing import Any


def op_name(target: Any) -> tuple[str, str]:
    """("relu", "default") for aten.relu.default; other libraries' operators keep their prefix."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return getattr(target, "__name__", str(target)), ""
    name = schema.name.removeprefix("aten::")
    return (name if name == "_to_copy" else name.removesuffix("_")), schema.overload_name or "default"


def names_of(node: Any) -> list[str]:
    """All names that `until` may call a node by: the modules that it is in, what the user knows it by, and its own."""
    return [*(path for path, _ in module_stack(node) if path), user_name(node), str(node.name)]


def user_name(node: Any) -> str:
    """The path of the torch.nn module that the op stands for, or the graph's name for a functional op."""
    stack = module_stack(node)
    if stack:
        path, kind = stack[-1]
        if path and kind.startswith("torch.nn."):
            return path
    return str(node.name)


def module_stack(node: Any) -> list[tuple[str, str]]:
    """Path and class of the modules that an op is in, from the outermost to the innermost."""
    stack = (node.meta.get("nn_module_stack") or {}).values()
    return [
        (str(path), kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}") for path, kind in stack
    ]

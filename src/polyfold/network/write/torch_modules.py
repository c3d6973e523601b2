"""Torch modules for those operations of a Network that torch.nn has no layer for, and one that runs a whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from polyfold.network.ops.op import Shape

Padding = Sequence[tuple[int, int]]


class NetworkModule(torch.nn.Module):  # type: ignore[misc]  # torch is looked at without its types
    """A graph of modules. Inputs are given in order; the result is a tensor, or a tuple of them if there are several.

    `steps` says of every value its name, the submodule that computes it, and the names of what that reads.
    """

    def __init__(
        self,
        modules: dict[str, torch.nn.Module],
        steps: Sequence[tuple[str, str, tuple[str, ...]]],
        input_names: Sequence[str],
        output_names: Sequence[str],
    ) -> None:
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)
        self.input_names, self.output_names = tuple(input_names), tuple(output_names)
        last = {name: k for k, (_, _, reads) in enumerate(steps) for name in reads}
        self.steps = tuple(
            (name, module, reads, tuple({read for read in reads if last[read] == k} - set(output_names)))
            for k, (name, module, reads) in enumerate(steps)
        )

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """The outputs (rows, *shape) for inputs (rows, *shape); a value is forgotten when nothing reads it any more."""
        if len(inputs) != len(self.input_names):
            raise TypeError(f"this network takes {', '.join(self.input_names)}; {len(inputs)} tensors were given")
        values = dict(zip(self.input_names, inputs, strict=True))
        for name, module, reads, finished in self.steps:
            values[name] = self._modules[module](*(values[read] for read in reads))
            for read in finished:
                del values[read]
        outputs = tuple(values[name] for name in self.output_names)
        return outputs if len(outputs) > 1 else outputs[0]


class ScaleLayer(torch.nn.Module):  # type: ignore[misc]
    """factor * x / divisor; the divisor, which may be absent, is no parameter."""

    divisor: torch.Tensor | None

    def __init__(self, factor: torch.Tensor, divisor: torch.Tensor | None = None) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(factor)
        self.register_buffer("divisor", divisor)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.divisor is None:
            return aligned(x, self.factor.dim()) * self.factor
        return aligned(x, max(self.factor.dim(), self.divisor.dim())) * self.factor / self.divisor


class Shifted(torch.nn.Module):  # type: ignore[misc]
    """x + offset."""

    def __init__(self, offset: torch.Tensor) -> None:
        super().__init__()
        self.offset = torch.nn.Parameter(offset)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return aligned(x, self.offset.dim()) + self.offset


class Reshaped(torch.nn.Module):  # type: ignore[misc]
    """The same numbers under another shape."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0], *self.shape)

    def extra_repr(self) -> str:
        return f"shape={self.shape}"


class Taken(torch.nn.Module):  # type: ignore[misc]
    """Entries of the flattened x by index."""

    index: torch.Tensor

    def __init__(self, index: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("index", index)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0], -1)[:, self.index]


class Joined(torch.nn.Module):  # type: ignore[misc]
    """Values side by side along an axis, the rows counted."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, *values: torch.Tensor) -> torch.Tensor:
        return torch.cat(values, dim=self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"


class Pairwise(torch.nn.Module):  # type: ignore[misc]
    """torch.add, sub, maximum or minimum of two values, broadcast behind the rows."""

    def __init__(self, function: str, axes: int) -> None:
        super().__init__()
        self.function, self.axes = function, axes

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = getattr(torch, self.function)(aligned(x, self.axes), aligned(y, self.axes))
        return result

    def extra_repr(self) -> str:
        return self.function


class Rectified(torch.nn.Module):  # type: ignore[misc]
    """slope_on * x where x > 0, slope_off * x elsewhere; the slopes are no parameters."""

    slope_on: torch.Tensor
    slope_off: torch.Tensor

    def __init__(self, slope_on: torch.Tensor, slope_off: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("slope_on", slope_on)
        self.register_buffer("slope_off", slope_off)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, self.slope_on * x, self.slope_off * x)


class Clamped(torch.nn.Module):  # type: ignore[misc]
    """min(max(x, low), high); a bound may be infinite."""

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(x, self.low, self.high)

    def extra_repr(self) -> str:
        return f"low={self.low}, high={self.high}"


class _Window(torch.nn.Module):  # type: ignore[misc]
    """A kernel, and how it is moved over an image."""

    def __init__(
        self, weight: torch.Tensor, bias: torch.Tensor, padding: Padding, stride: Any, dilation: Any, groups: int
    ) -> None:
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
        self.padding, self.stride, self.dilation, self.groups = padding, stride, dilation, groups


class Convolved(_Window):
    """A convolution whose padding differs before and after."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        convolve = getattr(functional, f"conv{len(self.stride)}d")
        wide = functional.pad(x, _sides(self.padding))
        result: torch.Tensor = convolve(wide, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)
        return result


class ConvolvedBack(_Window):
    """A transposed convolution of which so much is cut off, or added as zeros where negative, before and after."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spread = getattr(functional, f"conv_transpose{len(self.stride)}d")
        full = spread(x, self.weight, None, self.stride, 0, 0, self.groups, self.dilation)
        cut = functional.pad(full, _sides([(-before, -after) for before, after in self.padding]))
        return cut + self.bias.reshape(-1, *([1] * len(self.stride)))


class Combined(torch.nn.Module):  # type: ignore[misc]
    """Fixed combinations of the flattened x, as a sparse matrix and divisors, if any; they are no parameters."""

    matrix: torch.Tensor
    divisor: torch.Tensor | None

    def __init__(self, matrix: torch.Tensor, shape: Shape, divisor: torch.Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("matrix", matrix)
        self.register_buffer("divisor", divisor)
        self.shape = shape

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sums = torch.sparse.mm(self.matrix, x.reshape(x.shape[0], -1).T).T
        return (sums if self.divisor is None else sums / self.divisor).reshape(x.shape[0], *self.shape)

    def extra_repr(self) -> str:
        return f"shape={self.shape}"


class Quotient(torch.nn.Module):  # type: ignore[misc]
    """(x + more + ...) / (bottom + ...): how a parameter that is no float is computed from one that is."""

    def __init__(self, more: Sequence[torch.Tensor], bottom: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.counts = len(more), len(bottom)
        for name, parts in (("more", more), ("bottom", bottom)):
            for k, part in enumerate(parts):
                self.register_buffer(f"{name}{k}", part)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for k in range(self.counts[0]):
            x = x + self.get_buffer(f"more{k}")
        if not self.counts[1]:
            return x
        bottom = self.get_buffer("bottom0")
        for k in range(1, self.counts[1]):
            bottom = bottom + self.get_buffer(f"bottom{k}")
        return x / bottom


class LargestOf(torch.nn.Module):  # type: ignore[misc]
    """Maxima over entries of the flattened x: buffers `members0`, ... of (maxima, members), and the maxima's order."""

    order: torch.Tensor

    def __init__(self, groups: Sequence[torch.Tensor], order: torch.Tensor) -> None:
        super().__init__()
        self.groups = len(groups)
        for k, members in enumerate(groups):
            self.register_buffer(f"members{k}", members)
        self.register_buffer("order", order)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = x.reshape(x.shape[0], -1)
        maxima = [flat[:, self.get_buffer(f"members{k}")].max(dim=2).values for k in range(self.groups)]
        return torch.cat(maxima, dim=1)[:, self.order]


def aligned(x: torch.Tensor, axes: int) -> torch.Tensor:
    """The tensor with so many axes behind the rows, so that shorter shapes do not broadcast along these."""
    missing = axes - (x.dim() - 1)
    return x.reshape(x.shape[0], *([1] * missing), *x.shape[1:]) if missing > 0 else x


def _sides(padding: Padding) -> list[int]:
    """As torch wants it: the last axis first."""
    return [amount for sides in reversed(padding) for amount in sides]


class ClassNumber(torch.nn.Module):  # type: ignore[misc]
    """The place of the largest entry along an axis: the first of several, or the last."""

    def __init__(self, axis: int, *, last: bool = False) -> None:
        super().__init__()
        self.axis, self.last = axis, last

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.shape[self.axis] - 1 - x.flip(self.axis).argmax(self.axis) if self.last else x.argmax(self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}{', last=True' if self.last else ''}"


class AsReal(torch.nn.Module):  # type: ignore[misc]
    """Whole numbers as real ones, which everything but an argmax reads."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float64)


class FlatHead(torch.nn.Module):  # type: ignore[misc]
    """Scores (rows, m) in parts, each through its own ops, and all numbers that these give side by side."""

    def __init__(self, parts: Sequence[tuple[int, torch.nn.Sequential]]) -> None:
        super().__init__()
        self.counts = [count for count, _ in parts]
        self.parts = torch.nn.ModuleList(ops for _, ops in parts)

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        given = scores.split(self.counts, dim=1)
        found = [ops(part).reshape(len(scores), -1) for ops, part in zip(self.parts, given, strict=True)]
        return torch.cat([numbers.to(scores.dtype) for numbers in found], dim=1)


class Chosen(ClassNumber):
    """1 at the place of the largest entry along an axis, 0 elsewhere."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = super().forward(x).unsqueeze(self.axis)
        return torch.zeros_like(x).scatter(self.axis, places, 1.0)

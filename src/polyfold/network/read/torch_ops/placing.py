"""Numbers of several tensors put together: assignment to entries and slices, scattering, and sums where they meet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from polyfold.network.ops.op import size
from polyfold.network.read.builder import MIXES_THE_BATCH, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import placing
from polyfold.network.read.compose.choose import Comparison, choose
from polyfold.network.read.folding import arithmetic
from polyfold.network.read.registry import COMPUTED_PLACES
from polyfold.network.read.torch_ops.site import TORCH_OPS, TorchSite, array, operand, positions_of_a_batch

handles = TORCH_OPS.family("The same numbers elsewhere", needs_batch=True)

# Arguments that say where numbers go; all other tensors and numbers are what goes there.
PLACES = frozenset({"index", "indices", "mask", "dim", "dim1", "dim2", "start", "end", "step", "offset", "diagonal"})
PLACES |= {"accumulate", "non_blocking", "unsafe", "repeats", "output_size", "sparse_grad", "k", "dims"}


@handles(
    *("copy", "fill", "select_scatter", "slice_scatter", "diagonal_scatter", "as_strided_scatter"),
    *("index_fill", "index_copy", "scatter", "tril", "triu", "diag_embed", "masked_scatter"),
    *("hstack", "vstack", "dstack", "column_stack", "block_diag", "broadcast_tensors"),
    becomes="`Take`, or `Concat`, `Combine` and `Shift`",
    limits="samples may not be mixed; places must be constant (x[:, 0] = y and its like)",
    batch_anywhere=True,
)
def _place(site: TorchSite, *args: Any, **kwargs: Any) -> Any:
    """Let torch move labels, for several samples, and read off where they went."""
    labels = placing.Labels()
    names = [argument.name for argument in site.target._schema.arguments]
    given = dict(zip(names, args, strict=False)) | kwargs
    places = {name: item for name, item in given.items() if name in PLACES}
    if any(_computed(item) for item in places.values()):
        site.refuse(COMPUTED_PLACES)
    # Labels of a later sample are larger by the number of all values' entries, which must be known first.
    labelled = {name: _labelled(site, labels, item) for name, item in given.items() if name not in places}
    step = labels.total()
    moved = site.target(**places, **{name: _numbered(site, item, step) for name, item in labelled.items()})
    if isinstance(moved, torch.Tensor):
        return _read_off(site, labels, moved, "")
    return [_read_off(site, labels, piece, str(k)) for k, piece in enumerate(moved)]


def _computed(item: Any) -> bool:
    if isinstance(item, (list, tuple)):
        return any(_computed(part) for part in item)
    return isinstance(item, (Value, Comparison))


def _labelled(site: TorchSite, labels: placing.Labels, item: Any) -> Any:
    """Labels of one sample for a value, of all entries for a constant, each with the batch axis (if any)."""
    if isinstance(item, (list, tuple)):
        return [_labelled(site, labels, part) for part in item]
    if isinstance(item, Value):
        return labels.of_value(item), item.batch_axis
    found = labels.of_constant(array(item))
    return (found, None) if isinstance(item, torch.Tensor) else int(found)


def _numbered(site: TorchSite, item: Any, step: int) -> Any:
    """What torch is given for labels: a tensor for the whole batch, or a number."""
    if isinstance(item, list):
        return [_numbered(site, part, step) for part in item]
    if isinstance(item, int):
        return item
    labels, axis = item
    return torch.as_tensor(labels if axis is None else placing.for_samples(labels, step, site.batch, axis))


def _read_off(site: TorchSite, labels: placing.Labels, moved: Any, part: str) -> Any:
    """The value with these labels in torch's whole batch; a constant tensor if nothing in it is computed."""
    if not (moved > 0).any():
        return torch.as_tensor(labels.constants(moved.numpy()))
    index, axis = placing.one_sample(site, moved.numpy(), labels.total(), site.batch)
    return replace(labels.put(site, index, part), batch_axis=axis)


@handles("masked_fill", becomes="like where", chooses=True)
def _masked_fill(site: TorchSite, x: Any, mask: Any, value: Any) -> Value:
    if isinstance(mask, Comparison):
        return choose(site, mask, operand(value), operand(x))
    if not isinstance(x, Value):
        site.refuse("its number is computed from the network's input")
    labels = placing.Labels()
    entries = _numbered(site, (labels.of_value(x), x.batch_axis), size(x.shape))
    filled = torch.where(mask, _numbered(site, _labelled(site, labels, value), 0), entries)
    result: Value = _read_off(site, labels, filled, "")
    return result


@handles(
    "index_put",
    becomes="`Take`, or `Concat`, `Combine` and `Shift`",
    limits="constant indices; with and without accumulate",
)
def _index_put(site: TorchSite, x: Any, indices: Any, values: Any, accumulate: bool = False) -> Value:
    if any(isinstance(item, Comparison) for item in indices):
        (condition,) = indices
        return choose(site, condition, operand(values), operand(x))
    if accumulate:
        return _add_where(site, x, values, lambda where: torch.ops.aten.index.Tensor(where, indices))
    result: Value = _place(site, x, indices, values)
    return result


@handles("index_add", becomes="`Combine`, `Add`", limits="constant indices")
def _index_add(site: TorchSite, x: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Value:
    return _add_where(site, x, source, lambda where: where.index_select(dim, index), alpha)


@handles("scatter_add", becomes="`Combine`, `Add`", limits="constant indices")
def _scatter_add(site: TorchSite, x: Any, dim: int, index: Any, source: Any) -> Value:
    if isinstance(index, (Value, Comparison)):
        site.refuse(COMPUTED_PLACES)
    used = tuple(slice(n) for n in index.shape)
    return _add_where(site, x, source, lambda where: where.gather(dim, index), used=used)


def _add_where(site: TorchSite, x: Any, source: Any, choose_places: Any, alpha: float = 1, used: Any = ...) -> Value:
    """x with (a part of) `source` added in the places that a function chooses among all entries of x."""
    shape = x.shape if isinstance(x, Value) else tuple(x.shape[1:])
    where = torch.arange(site.batch * size(shape)).reshape(site.batch, *shape)
    places = choose_places(where)
    if not isinstance(source, Value):
        numbers = arithmetic.multiply(array(source)[used], np.array(float(alpha)))
        amounts = arithmetic.added_at(where.numel(), places.numpy(), np.broadcast_to(numbers, places.shape))
        return compose.add(site, operand(x), amounts.reshape(where.shape))
    entries = positions_of_a_batch(site, source)[used].expand(places.shape)
    pairs = torch.stack([places.reshape(-1), entries.reshape(-1)], dim=1).numpy()
    counts = np.array([size(shape), size(source.shape)])
    samples = pairs // counts
    if (samples[:, 0] != samples[:, 1]).any():
        site.refuse(MIXES_THE_BATCH)
    by_sample = [_sorted(pairs[samples[:, 0] == k] - k * counts) for k in range(site.batch)]
    if not all(np.array_equal(by_sample[0], other) for other in by_sample[1:]):
        site.refuse("which entries it changes differs from sample to sample")
    base = x if isinstance(x, Value) else array(x)
    return placing.add_at(site, base, source, by_sample[0], shape, alpha)


def _sorted(pairs: Any) -> Any:
    return pairs[np.lexsort(pairs.T)]


@handles(
    *("new_zeros", "new_ones", "new_full", "new_empty", "zeros_like", "ones_like", "full_like", "empty_like"),
    becomes="a constant",
    batch_anywhere=True,
)
def _new(site: TorchSite, x: Value, *args: Any, **kwargs: Any) -> Any:
    made = site.target(torch.zeros(x.full_shape(site.batch), dtype=site.dtype), *args, **kwargs)
    return made.zero_() if "empty" in site.op else made

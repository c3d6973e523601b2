"""From a torch module or an exported torch program to a Network."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.exact.tolerances import IMPORT_FLOAT16
from polyfold.network.graph import Network
from polyfold.network.ops.op import Shape, size
from polyfold.network.read.check import sample_points
from polyfold.network.read.torch_archive import check_torch_archive, plain_tensors_only
from polyfold.network.read.torch_graph import TOLERANCES, GraphReader, input_types
from polyfold.network.read.torch_trace import (
    BATCH,
    FORWARD_ERRORS,
    Traced,
    evaluation_copy,
    nothing_compiled,
    torch_log_silenced,
    trace,
    uncompiled,
)
from polyfold.network.read.torch_training import in_evaluation, training_note

# Samples in a second run of the module, which must not notice the difference.
OTHER_BATCH = 3


def from_torch(module: Any, input_shapes: Sequence[Shape] | None, *, until: str | None = None) -> Network:
    """The Network that a torch.nn.Module computes in evaluation mode, or the part of it in front of the node `until`.

    The module itself is not touched.
    """
    if isinstance(module, torch.jit.ScriptModule):
        raise NetworkError(
            f"{type(module).__name__} is a TorchScript module, which torch.export cannot read: "
            "pass the nn.Module that it was made from"
        )
    with nothing_compiled():
        return _from_module(uncompiled(module), input_shapes, until)


def _from_module(module: Any, input_shapes: Sequence[Shape] | None, until: str | None) -> Network:
    original = evaluation_copy(module).double()
    shapes = list(input_shapes) if input_shapes is not None else [_infer_input_shape(module)]
    try:
        traced = trace(original, shapes, torch.float64)
    except NetworkError:
        # A forward pass that casts to float32 by itself does not run in float64.
        if all(p.dtype == torch.float64 for p in module.parameters()):
            raise
        original = evaluation_copy(module)
        traced = trace(original, shapes, torch.float32)
    note = training_note(module, original, lambda copied: _tensors(copied(*_examples(traced, BATCH))))
    notes = () if note is None else (note,)
    try:
        network, reader = _read(traced, until, notes)
    except UnsupportedOpError as refused:
        return _one_sample(original, shapes, until, notes, refused)
    if until is None:
        _check_other_batch(original, reader)
    return network


def _one_sample(
    module: Any, shapes: Sequence[Shape], until: str | None, notes: Sequence[str], refused: NetworkError
) -> Network:
    """A module that merges the batch axis with others, as in reshape(-1, C): what it does to a single sample.

    What was refused before stays refused if the module does something else to several samples at once.
    """
    dtype = next((p.dtype for p in module.parameters()), torch.float64)
    try:
        network, reader = _read(trace(module, shapes, dtype, batch=1), until, notes, single=True)
    except NetworkError:
        raise refused from None
    if until is None and not _alike_in_a_batch(module, reader):
        raise refused
    return network


def _alike_in_a_batch(module: Any, reader: GraphReader) -> bool:
    """Whether several samples at once give what each gives by itself, one after the other."""
    examples = _examples(reader.traced, OTHER_BATCH)
    points = np.concatenate([example.reshape(OTHER_BATCH, -1).double().numpy() for example in examples], axis=1)
    expected = np.concatenate([reader.model_outputs(point[None]) for point in points])
    try:
        with torch.no_grad():
            found = [leaf for leaf in _tensors(module(*examples)) if leaf.is_floating_point()]
    except FORWARD_ERRORS:
        return False
    if sum(leaf.numel() for leaf in found) != expected.size or any(leaf.numel() % OTHER_BATCH for leaf in found):
        return False
    rows = np.concatenate([leaf.double().reshape(OTHER_BATCH, -1).numpy() for leaf in found], axis=1)
    scale = 1.0 + float(np.abs(expected).max(initial=0.0))
    return bool(np.abs(rows - expected).max(initial=0.0) <= reader.tolerance * scale)


def from_pt2(path: str | os.PathLike[str], *, until: str | None = None) -> Network:
    """The Network in a torch.export archive, which is never unpickled."""
    check_torch_archive(Path(path), os.fspath(path))
    try:
        with torch_log_silenced(), plain_tensors_only():
            program = torch.export.load(os.fspath(path))
    except UnpicklingError:
        raise NetworkError(
            f"{os.fspath(path)!r} holds pickled objects, which are never read: save the network alone, with "
            "torch.export.save"
        ) from None
    except (RuntimeError, ValueError, OSError, KeyError, AssertionError, zipfile.BadZipFile) as error:
        raise NetworkError(
            f"{os.fspath(path)!r} is not a readable torch.export archive: "
            "it is damaged, or torch.export.save did not write it"
        ) from error
    return from_exported(program, until=until)


def from_exported(program: Any, *, until: str | None = None) -> Network:
    """The Network that an exported program computes, compared with the program at random points."""
    program, notes = in_evaluation(program)
    traced = Traced.of(program)
    try:
        return _read(traced, until, notes)[0]
    except UnsupportedOpError as refused:
        try:
            return _read(traced, until, notes, single=True)[0]
        except NetworkError:
            raise refused from None


def _read(
    traced: Traced, until: str | None, notes: Sequence[str], *, single: bool = False
) -> tuple[Network, GraphReader]:
    reader = GraphReader(traced, until, notes, single=single)
    return reader.verified(reader.read()), reader


def _infer_input_shape(module: Any) -> Shape:
    """The input's shape if the first layer with weights says it."""
    for part in module.modules():
        if isinstance(part, torch.nn.Linear):
            return (part.in_features,)
        if isinstance(part, torch.nn.BatchNorm1d):
            return (part.num_features,)
        has_weights = any(True for _ in part.parameters(recurse=False))
        if has_weights and not any(True for _ in part.children()):
            break
    raise NetworkError(
        f"the input shape of {type(module).__name__} cannot be told from its first layer: "
        "pass input_shape=(...), without the batch axis"
    )


def _examples(traced: Traced, count: int) -> list[Any]:
    """So many samples of every input."""
    return [
        torch.as_tensor(sample_points(size(shape), count).reshape(count, *shape), dtype=dtype)
        for shape, dtype in input_types(traced)
    ]


def _check_other_batch(module: Any, reader: GraphReader) -> None:
    """The module itself, at another number of samples, against the trace; a batch axis of None: there is none."""
    examples = _examples(reader.traced, BATCH)
    traced = reader.run(examples, [name for name, _ in reader.ends])
    with torch.no_grad():
        try:
            direct = module(*(example[:OTHER_BATCH] for example in examples))
        except FORWARD_ERRORS as error:
            raise NetworkError(
                f"{type(module).__name__} runs with {BATCH} samples but not with {OTHER_BATCH}: {error}; "
                "the first axis must be a batch of independent samples"
            ) from error
    leaves = zip(traced, _tensors(direct), reader.ends, strict=True)
    pairs = [
        (a if axis is None else a.narrow(axis, 0, OTHER_BATCH), b)
        for a, b, (_, axis) in leaves
        if a.is_floating_point()
    ]
    for a, b in pairs:
        tolerance = TOLERANCES.get(b.dtype, IMPORT_FLOAT16) * (1.0 + float(b.abs().amax()))
        if a.shape != b.shape or not torch.allclose(a, b, rtol=0.0, atol=tolerance):
            raise NetworkError(
                f"{type(module).__name__} gives other outputs for {OTHER_BATCH} samples than for the same "
                f"samples in a batch of {BATCH}: each row must be computed on its own (and without chance)"
            )


def _tensors(outputs: Any) -> list[Any]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]

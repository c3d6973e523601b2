"""Networks as files: ONNX, or torch's exported programs. What `load` reads again is the same function."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path

import numpy as np

from polyfold._base.extras import require
from polyfold._base.files import atomically
from polyfold._base.types import Array
from polyfold.errors import StorageError
from polyfold.network.graph import Network
from polyfold.network.ops.unrounded import Unrounded

ENDINGS = (".onnx", ".pt2")


def save(network: Network, path: str | PathLike[str]) -> None:
    """Write a network to a file whose ending says what kind it is; whole or not at all.

    ONNX weights are float32 if that rounds none of them, as it is with networks that came in float32, else float64.
    """
    file = Path(path)
    if file.suffix.lower() == ".onnx":
        network.save_onnx(file, dtype=np.float32 if _fits(network, np.float32) else np.float64)
    elif file.suffix.lower() == ".pt2":
        _save_torch(network, file)
    else:
        raise StorageError(f"{str(path)!r} must end in {' or '.join(ENDINGS)}, which says what is written")


def _save_torch(network: Network, path: Path) -> None:
    require("torch", extra="torch", purpose="a torch file of a network")
    import torch

    inputs = tuple(torch.zeros((2, *port.shape), dtype=torch.float64) for port in network.inputs)
    module, rows = network.to_torch(), torch.export.Dim("rows")
    shapes: tuple[object, ...] = tuple({0: rows} for _ in inputs)
    # A chain names its input; what is no chain takes any number of them as one argument.
    exported = torch.export.export(
        module, inputs, dynamic_shapes=shapes if isinstance(module, torch.nn.Sequential) else (shapes,)
    )
    written = io.BytesIO()
    torch.export.save(exported, written)
    with atomically(path) as temporary:
        temporary.write_bytes(written.getvalue())


def _fits(network: Network, kind: type[np.float32]) -> bool:
    """Whether all constants are floats of this kind."""
    if any(isinstance(node.op, Unrounded) for node in network.nodes):
        return False

    def exact(values: Array) -> bool:
        with np.errstate(over="ignore"):
            return bool(np.array_equal(values.astype(kind).astype(np.float64), values))

    return all(exact(values) for node in network.nodes for values in node.op.constants)

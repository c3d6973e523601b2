"""load: any model that we can read, as a Network. No framework is imported unless the model needs it."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, TypeAlias

from polyfold._base.extras import require
from polyfold.errors import NetworkError
from polyfold.network.graph import Network
from polyfold.network.ops.op import Shape
from polyfold.network.read.arrays import from_arrays

READABLE = (
    "a torch.nn.Module, the path of an .onnx or .pt2 file, an onnx.ModelProto, a fitted scikit-learn "
    "MLPClassifier or MLPRegressor (or a Pipeline of scalers that ends in one), a Keras model, or a list of (W, b) "
    "pairs"
)


InputShape: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]]

_log = logging.getLogger("polyfold")


def load(
    model: Any, *, input_shape: InputShape | None = None, until: str | None = None, strict: bool = False
) -> Network:
    """Read a model as a Network, and check that it computes what the model computes.

    A model in training mode is read as in evaluation mode. Where that makes a difference the Network says so in
    `notes`, and a warning goes to the log "polyfold", which Python shows on standard error unless told otherwise.

    A torch module is traced by torch.export, which takes some tenths of a second. The graph is remembered: the next
    time, and for copies and modules of the same kind, forward() is run once, and if it runs the very same operators,
    the graph is used again with the weights of now. Whatever changes what forward() does is seen: other layers, hooks,
    flags, globals.

    Parameters
    ----------
    model : torch.nn.Module, str, os.PathLike, onnx.ModelProto, scikit-learn or Keras model, list, Network
        A torch module (compiled or not), the path of an .onnx or .pt2 file, an ONNX model, a torch ExportedProgram, a
        fitted scikit-learn MLP (or a Pipeline of scalers that ends in one), a Keras model, a list of pairs (W, b) with
        W of shape (outputs, inputs), or a Network, which is returned as it is.
    input_shape : int, tuple of int or list of tuples, optional
        The input's shape without the batch axis, for torch and ONNX models that do not tell it themselves; a list of
        shapes if there are several inputs.
    until : str, optional
        The name of a node (of a value or node in ONNX, of a module or node in torch): only what comes in front of it
        is read, up to the values that it reads. That is how to get at the piecewise-linear part of a model in front of
        something that is refused; errors name the node.
    strict : bool
        Whether to raise an error where the Network would have a note, other than that `until` was asked for.

    Returns
    -------
    Network
        The graph of piecewise-linear operations, with the model's own names, and its head.

    Raises
    ------
    UnsupportedOpError
        If an operation is not continuous and piecewise linear, or not known; it is named.
    NetworkError
        If this is no model, if it does not run, or if what was read is not what the model computes.

    Examples
    --------
    >>> import polyfold as pf
    >>> network = pf.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> network
    Network from arrays: input (1,) to linear2 (1,), 3 nodes
    >>> network([[-3.0], [2.0]]).tolist()
    [[3.0], [2.0]]
    """
    if until is not None and not isinstance(until, str):
        raise NetworkError(f"until must be the name of a node, a text, got {until!r}")
    network = _read(model, _shapes(input_shape), until)
    if strict and network.notes:
        raise NetworkError(f"{network.notes[0]} (an error because of strict=True)")
    if network is not model:
        for note in network.notes:
            _log.warning(note)
    if until is None:
        return network
    trunk = f"this is the part in front of {until!r}, not the whole model"
    _log.info(trunk)
    return replace(network, notes=(*network.notes, trunk))


def _read(model: Any, shapes: list[Shape] | None, until: str | None) -> Network:
    if isinstance(model, (str, os.PathLike)):
        return _load_file(model, shapes, until)
    modules = [kind.__module__ for kind in type(model).__mro__]
    name = type(model).__name__
    # A Keras model may be a torch module too; Keras knows how to export both.
    if not _any_from(modules, "keras"):
        if _any_from(modules, "torch.nn", "torch.jit"):
            require("torch", extra="torch", purpose=f"reading {name}")
            from polyfold.network.read.torch import from_torch

            return from_torch(model, shapes, until=until)
        if name == "ExportedProgram" and _any_from(modules, "torch"):
            from polyfold.network.read.torch import from_exported

            return from_exported(_without_shape(model, shapes), until=until)
        if name == "ModelProto" and _any_from(modules, "onnx"):
            require("onnx", extra="onnx", purpose="reading an ONNX model")
            from polyfold.network.read.onnx import from_onnx

            return from_onnx(model, shapes, until=until)
    _without_shape(model, shapes)
    if until is not None:
        raise NetworkError(f"until={until!r} is only for torch modules and ONNX; this is a {name}")
    if isinstance(model, Network):
        return model
    if hasattr(type(model), "__polyfold_network__"):  # a result that is a network itself
        network: Network = model.__polyfold_network__()
        return network
    if _any_from(modules, "keras"):
        from polyfold.network.read.keras import from_keras

        return from_keras(model)
    if _any_from(modules, "sklearn.neural_network", "sklearn.pipeline"):
        from polyfold.network.read.sklearn import from_sklearn

        return from_sklearn(model)
    if _any_from(modules, "sklearn"):
        raise NetworkError(
            f"scikit-learn's {name} is not a network: pass its fitted MLPClassifier or MLPRegressor by itself, or a "
            "Pipeline of scalers that ends in one"
        )
    if isinstance(model, Sequence):
        return from_arrays(model)
    raise NetworkError(
        f"an object of type {type(model).__qualname__} cannot be read as a network{_hint(model)}; give {READABLE}"
    )


def _hint(model: Any) -> str:
    """What somebody may have meant by something that is no network."""
    if isinstance(model, type):
        return f": {model.__name__} is a class, call it"
    if isinstance(model, Mapping):
        return ": if these are weights (a state dict), build the module and call its load_state_dict"
    return ""


def _load_file(path: str | os.PathLike[str], shapes: list[Shape] | None, until: str | None) -> Network:
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    if ending in (".pt", ".pth"):
        raise NetworkError(
            f"{name!r} holds weights (and maybe pickled code), which is no network by itself: "
            "build the module, call load_state_dict(torch.load(...)) and pass the module, "
            "or save it with torch.export.save as .pt2"
        )
    if ending in (".keras", ".h5"):
        raise NetworkError(f"{name!r} is a Keras file: pass keras.models.load_model({name!r})")
    if ending not in (".onnx", ".pt2"):
        raise NetworkError(f"{name!r} is neither an .onnx nor a .pt2 file; give {READABLE}")
    if not os.path.isfile(name):
        raise NetworkError(f"there is no file {name!r}")
    if ending == ".pt2":
        require("torch", extra="torch", purpose=f"reading {name!r}")
        from polyfold.network.read.torch import from_pt2

        return from_pt2(_without_shape(path, shapes), until=until)
    require("onnx", extra="onnx", purpose=f"reading {name!r}")
    from polyfold.network.read.onnx import from_onnx_file

    return from_onnx_file(path, shapes, until=until)


def _without_shape(model: Any, shapes: list[Shape] | None) -> Any:
    """The model, if the user did not say an input shape that it already knows."""
    if shapes is not None:
        shown = repr(model) if isinstance(model, (str, os.PathLike)) else f"a {type(model).__name__}"
        raise NetworkError(f"input_shape= is only for torch modules and ONNX; {shown} tells its own")
    return model


def _any_from(modules: list[str], *packages: str) -> bool:
    """Whether one of the modules is, or lies in, one of the packages."""
    return any(module == package or module.startswith(f"{package}.") for module in modules for package in packages)


def _shapes(input_shape: Any) -> list[Shape] | None:
    """The user's input_shape as a list with one shape for each input."""
    if input_shape is None:
        return None
    several = isinstance(input_shape, Sequence) and bool(input_shape) and isinstance(input_shape[0], Sequence)
    return [_shape(item) for item in (input_shape if several else [input_shape])]


def _shape(lengths: Any) -> Shape:
    items = lengths if isinstance(lengths, Sequence) and not isinstance(lengths, str) else [lengths]
    if not all(isinstance(n, Integral) and int(n) > 0 for n in items):
        raise NetworkError(f"input_shape must consist of positive whole numbers, not {lengths!r}")
    return tuple(int(n) for n in items)

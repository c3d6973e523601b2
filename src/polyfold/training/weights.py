"""The weights of a model as named arrays, whichever library trains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.extras import require
from polyfold.errors import NetworkError

Weights = dict[str, npt.NDArray[Any]]
Kind = Literal["torch", "sklearn", "arrays"]


def kind_of(model: Any) -> Kind:
    """Which library a model is from, or an error that says which are known."""
    modules = [kind.__module__.split(".") for kind in type(model).__mro__]
    if any(names[0] == "keras" for names in modules):
        raise NetworkError("recording a Keras model is not supported: record a torch module or a scikit-learn MLP")
    if any(names[:2] == ["torch", "nn"] for names in modules):
        return "torch"
    if any(names[:2] == ["sklearn", "neural_network"] for names in modules):
        return "sklearn"
    if isinstance(model, Sequence) and not isinstance(model, str) and len(model):
        return "arrays"
    raise NetworkError(
        f"the training of a {type(model).__qualname__} cannot be recorded: give a torch.nn.Module, a scikit-learn "
        "MLPClassifier or MLPRegressor, or a list of (W, b) pairs whose arrays are changed in place"
    )


def weights_of(model: Any) -> Weights | None:
    """Copies of all weights, buffers included; None for a scikit-learn model that has none yet."""
    kind = kind_of(model)
    if kind == "torch":
        return {name: _from_tensor(tensor) for name, tensor in model.state_dict().items()}
    if kind == "sklearn":
        if not hasattr(model, "coefs_"):
            return None
        pairs: Sequence[Any] = list(zip(model.coefs_, model.intercepts_, strict=True))
        return named("coefs_.{}", "intercepts_.{}", pairs)
    return named("{}.weight", "{}.bias", model)


def named(weight: str, bias: str, pairs: Sequence[Any]) -> Weights:
    """Layers' arrays under names with the layers' numbers."""
    found: Weights = {}
    for k, pair in enumerate(pairs):
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise NetworkError(f"layer {k + 1} must be a pair (W, b), got {str(pair)[:80]}")
        found[weight.format(k)], found[bias.format(k)] = (np.array(part) for part in pair)
    return found


def module_with(module: Any, weights: Mapping[str, npt.NDArray[Any]]) -> Any:
    """A copy of a torch module with other weights, in evaluation mode: recordings are made while a model is trained."""
    torch = require("torch", extra="torch", purpose="a network of recorded weights")
    import copy

    try:
        other = copy.deepcopy(module).cpu().eval()
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise NetworkError(f"{type(module).__name__} cannot be copied for reading: {error}") from error
    try:
        other.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
    except RuntimeError as error:
        raise NetworkError(
            f"{type(module).__name__} does not take the recorded weights: {' '.join(str(error).split())}"
        ) from None
    return other


def _from_tensor(tensor: Any) -> npt.NDArray[Any]:
    host = tensor.detach().cpu()
    # NumPy has no bfloat16; every such number is a float32.
    host = host.float() if str(host.dtype) == "torch.bfloat16" else host
    array: npt.NDArray[Any] = np.array(host.numpy())
    return array

"""Bundled networks that come with names for what goes in and out, and with how they were trained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from polyfold._base.types import Array
from polyfold.errors import NetworkError
from polyfold.network.ops.op import constant

Layers: TypeAlias = list[tuple[Array, Array]]

FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Bundled:
    """A bundled network with names.

    Attributes
    ----------
    name : str
        What it is called.
    layers : tuple of pairs of array
        The layers (W, b), a ReLU between every two of them.
    inputs, outputs : tuple of str
        The names of what goes in and comes out.
    facts : dict
        How it was trained, and how well it does.
    """

    name: str
    layers: tuple[tuple[Array, Array], ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    facts: dict[str, Any]


def bundled() -> tuple[str, ...]:
    """The bundled networks that have names for what goes in and out.

    Returns
    -------
    tuple of str
        What `read` takes.

    Examples
    --------
    >>> bundled()
    ('iris',)
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def read(name: str) -> Bundled:
    """A bundled network with the names of what goes in and out.

    Parameters
    ----------
    name : str
        One of `bundled()`.

    Returns
    -------
    Bundled
        Its layers, names and facts.

    Examples
    --------
    >>> read("iris").outputs
    ('setosa', 'versicolor', 'virginica')
    """
    if name not in bundled():
        raise NetworkError(f"no network named {name!r} is bundled; there are: {', '.join(bundled())}")
    facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    layers = tuple((constant(layer["weight"]), constant(layer["bias"])) for layer in facts.pop("layers"))
    return Bundled(name, layers, tuple(facts["inputs"]), tuple(facts["outputs"]), facts)

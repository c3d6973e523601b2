"""Networks that come with polyfold, as plain arrays.

>>> from polyfold.datasets import bundled, iris
>>> bundled()
('iris',)
>>> [weight.shape for weight, bias in iris()]
[(5, 2), (7, 5), (4, 7), (3, 4)]
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.errors import NetworkError

Array = npt.NDArray[np.float64]
Layers = list[tuple[Array, Array]]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Bundled:
    """A bundled network: its layers, the names of what goes in and comes out, and how it was trained."""

    name: str
    layers: tuple[tuple[Array, Array], ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    facts: dict[str, Any]


def bundled() -> tuple[str, ...]:
    """The names of all bundled networks."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def read(name: str) -> Bundled:
    """A bundled network by its name.

    >>> read("iris").outputs
    ('setosa', 'versicolor', 'virginica')
    """
    if name not in bundled():
        raise NetworkError(f"no network named {name!r} is bundled; there are: {', '.join(bundled())}")
    facts = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    layers = tuple((_frozen(layer["weight"]), _frozen(layer["bias"])) for layer in facts.pop("layers"))
    return Bundled(name, layers, tuple(facts["inputs"]), tuple(facts["outputs"]), facts)


def iris() -> Layers:
    """The bundled Iris classifier as [(W, b), ...]: petal length and width in, a score a species out."""
    return list(read("iris").layers)


def iris_test() -> tuple[Array, tuple[str, ...]]:
    """The 60 flowers that the bundled Iris classifier did not see in training: petals (60, 2), and their species.

    >>> petals, species = iris_test()
    >>> petals.shape, sorted(set(species))
    ((60, 2), ['setosa', 'versicolor', 'virginica'])
    """
    _, *lines = (_FOLDER / "iris_test.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines]
    return _frozen([[float(length), float(width)] for length, width, _ in rows]), tuple(row[2] for row in rows)


def _frozen(values: Any) -> Array:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array

"""Small networks with numbers at the ends of float64's range, generated from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import polyfold as pf
from soundness.cells_in_fractions import ExactCell, Form, cells

LARGEST, LEAST = float(np.finfo(np.float64).max), 5e-324
Scales = Callable[[np.random.Generator, int], float]  # of a layer, by its number


def _from(*sizes: float) -> Scales:
    return lambda rng, layer: float(rng.choice(sizes))


# How large the coefficients of a network are. Each is a scale, or one per layer.
KINDS: dict[str, tuple[Scales, bool]] = {  # whether every entry has a scale of its own, or every row
    "largest": (_from(1.7e308, 1.2e308, 8.9e307, LARGEST), False),
    "huge": (_from(1e300, 3e299, 1e301), False),
    "one entry huge": (_from(1.0, 1.0, 1.0, 1.7e308), True),
    "huge and tiny": (_from(1e300, 1e-300, 1.0), True),
    "rows huge or tiny": (_from(1e300, 1e-300), False),
    "everything": (_from(1.7e308, 1e200, 1.0, 1e-200, 2.3e-308, LEAST), True),
    "denormal": (_from(LEAST, 3e-320, 1e-310), False),
    "denormal and one": (_from(LEAST, 1.0, 1e-308), True),
    "products overflow": (lambda rng, layer: (1e200, 1e180, 1e-100, 1e-250)[layer % 4], False),
    "products underflow": (lambda rng, layer: (1e-200, 1e-180, 1e300, 1e100)[layer % 4], False),
    "up and down": (lambda rng, layer: (1e-160, 1e170, 1e300, 1e-300)[layer % 4], False),
    "ordinary": (_from(1.0), False),
}
DOMAINS = ("all", "box 1", "box 1e300", "box largest", "box 1e-300", "box least", "box lopsided")


@dataclass(frozen=True)
class EdgeCase:
    """A network on a domain, and the same domain for the judge."""

    name: str
    layers: list[tuple[np.ndarray, np.ndarray]]
    lower: tuple[float, ...] | None  # None: all of R^d
    upper: tuple[float, ...] | None

    @property
    def dim(self) -> int:
        return int(self.layers[0][0].shape[1])

    @property
    def domain(self) -> pf.Domain | None:
        return None if self.lower is None else pf.box(self.lower, self.upper)

    @property
    def rows(self) -> list[Form]:
        """The domain as forms that are >= 0."""
        if self.lower is None or self.upper is None:
            return []
        units = [tuple(Fraction(int(i == k)) for k in range(self.dim)) for i in range(self.dim)]
        lower = [(*unit, -Fraction(bound)) for unit, bound in zip(units, self.lower, strict=True)]
        return lower + [(*(-u for u in unit), Fraction(b)) for unit, b in zip(units, self.upper, strict=True)]

    def truth(self) -> list[ExactCell]:
        middle = [
            (Fraction(low) + Fraction(high)) / 2
            for low, high in zip(self.lower or [0.0] * self.dim, self.upper or [0.0] * self.dim, strict=True)
        ]
        layers = [(weights.tolist(), biases.tolist()) for weights, biases in self.layers]
        return cells(layers, self.dim, self.rows, tuple(middle))


def edge_case(seed: int) -> EdgeCase:
    """Case `seed`: kinds and domains take turns, everything else is drawn."""
    rng = np.random.default_rng(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    where = DOMAINS[seed // len(KINDS) % len(DOMAINS)]
    dim = int(rng.integers(1, 4))
    depth = int(rng.integers(1, 4))
    most = 4 if dim < 3 else 3
    widths = [dim, *(int(rng.integers(1, most + 1)) for _ in range(depth)), int(rng.integers(1, 3))]
    layers = [_layer(rng, kind, number, widths[number], widths[number + 1]) for number in range(depth + 1)]
    lower, upper = _bounds(rng, where, dim)
    return EdgeCase(f"{kind}, {where}, seed {seed}", layers, lower, upper)


def _layer(
    rng: np.random.Generator, kind: str, number: int, inputs: int, outputs: int
) -> tuple[np.ndarray, np.ndarray]:
    scales, entrywise = KINDS[kind]
    numbers = rng.integers(-3, 4, size=(outputs, inputs + 1)).astype(float) / 3.0
    if rng.random() < 0.3:  # nothing special about the digits
        numbers = rng.uniform(-1, 1, size=numbers.shape)
    for row in numbers:
        row *= [scales(rng, number) for _ in row] if entrywise else scales(rng, number)
    numbers[:, -1] *= rng.choice([0.0, 1.0, 1.0])
    for row in range(1, outputs):  # walls that are one, or opposite, or nothing
        edit = rng.random()
        if edit < 0.12:
            numbers[row] = numbers[row - 1] * rng.choice([-1.0, 1.0, 0.5])
        elif edit < 0.16:
            numbers[row] = 0.0
    return numbers[:, :-1].copy(), numbers[:, -1].copy()


def _bounds(
    rng: np.random.Generator, where: str, dim: int
) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    match where:
        case "all":
            return None, None
        case "box 1":
            return (-1.0,) * dim, (1.0,) * dim
        case "box 1e300":
            return (-1e300,) * dim, (1e300,) * dim
        case "box largest":
            return (-LARGEST,) * dim, (LARGEST,) * dim
        case "box 1e-300":
            return (-1e-300,) * dim, (1e-300,) * dim
        case "box least":
            return (-LEAST,) * dim, (2 * LEAST,) * dim
    lower = tuple(float(-rng.choice([1e300, 1.0, 1e-300, 0.0])) for _ in range(dim))
    return lower, tuple(float(rng.choice([1e300, 1.0, 1e-300])) for _ in range(dim))

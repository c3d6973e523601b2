"""What is measured: networks of torch's default initialisation, and one real network, each on a domain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from networks import linear_layers, torch_default
from workers.archive import Floats, write

# The real network is not part of the repository; it is looked for next to it.
ACASXU = Path(__file__).resolve().parents[2] / "shared" / "data" / "models" / "acasxu_1_1.onnx"
PROPERTY_3 = (
    (-0.303531156, -0.009549297, 0.493380324, 0.3, 0.3),
    (-0.298552812, 0.009549297, 0.5, 0.5, 0.5),
)
ACASXU_CELLS = 71_930


@dataclass(frozen=True)
class Case:
    """A network of these widths, from seed 0, on the box [-radius, radius]^d, or on all of R^d."""

    widths: tuple[int, ...]
    radius: float | None = None

    @property
    def name(self) -> str:
        return ",".join(map(str, self.widths))

    @property
    def domain(self) -> str:
        d = self.widths[0]
        return f"R^{d}" if self.radius is None else f"[-{self.radius:g}, {self.radius:g}]^{d}"

    @property
    def label(self) -> str:
        return f"{self.name} on {self.domain}"

    @property
    def multiply_adds(self) -> int:
        """What the gates' affine forms cost a cell: an input's d coefficients and a constant for each gate."""
        return sum(self.widths[1:-1]) * (self.widths[0] + 1)

    def write(self, folder: Path) -> Path:
        """The case as a file for a worker; made once."""
        path = folder / f"{self.name}_{self.radius}.npz"
        if not path.exists():
            corner = np.full(self.widths[0], self.radius or 0.0)
            write(path, linear_layers(torch_default(self.widths)), None if self.radius is None else (-corner, corner))
        return path


def boxes(radius: float, *widths: tuple[int, ...]) -> tuple[Case, ...]:
    """Cases on one box."""
    return tuple(Case(each, radius) for each in widths)


def write_acasxu(folder: Path, times: float = 1.0) -> Path | None:
    """The ACAS-Xu network with the box of its property 3, so many times as wide; None where it is not at hand."""
    if not ACASXU.exists():
        return None
    low, high = np.array(PROPERTY_3)
    if times != 1:
        middle, reach = (low + high) / 2, times * (high - low) / 2
        low, high = middle - reach, middle + reach
    return write_acasxu_on(folder / f"acasxu_{times:g}.npz", low, high)


def write_acasxu_on(path: Path, low: Floats, high: Floats) -> Path:
    """The ACAS-Xu network with a box; made once."""
    import polyfold as pf
    from polyfold.program.lower.lower import lower

    if not path.exists():
        program = lower(pf.load(ACASXU))
        # A plain ReLU network: each affine function reads the one before it.
        affine = [*(stage.affine for stage in program.stages), program.output]
        write(path, [(step.blocks[0].weight, step.bias) for step in affine], (low, high))
    return path

"""Programs: what the engine runs, and how a Network becomes one."""

from polyfold.program.affine import Affine, Block
from polyfold.program.lower.lower import lower
from polyfold.program.origins import GateOrigin
from polyfold.program.program import Program, Stage

__all__ = ["Affine", "Block", "GateOrigin", "Program", "Stage", "lower"]

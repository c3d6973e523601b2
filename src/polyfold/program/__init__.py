"""Programs: what the engine runs, and how a Network becomes one."""

from polyfold.program.lower import lower
from polyfold.program.program import Affine, Block, GateOrigin, Program, Stage

__all__ = ["Affine", "Block", "GateOrigin", "Program", "Stage", "lower"]

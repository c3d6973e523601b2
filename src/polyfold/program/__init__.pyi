from .affine import Affine as Affine, Block as Block
from .lower.lower import lower as lower
from .origins import GateOrigin as GateOrigin
from .program import Program as Program, Stage as Stage

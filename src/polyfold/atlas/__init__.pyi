from .atlas import Atlas as Atlas
from .cell import Cell as Cell
from .certificate import Certificate as Certificate
from polyfold._base.evidence import Evidence as Evidence
from .regions import Regions as Regions

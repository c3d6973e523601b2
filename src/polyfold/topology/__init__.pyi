from .betti import Betti as Betti, betti as betti
from .critical_points import CriticalPoints as CriticalPoints, critical_points as critical_points
from .face_complex import FaceComplex as FaceComplex, faces as faces
from .persistence import Persistence as Persistence, persistence as persistence
from .subcomplex import Components as Components, Subcomplex as Subcomplex
from .subcomplexes import (
    boundary as boundary,
    class_region as class_region,
    level_set as level_set,
    sublevel as sublevel,
    superlevel as superlevel,
)

from .betti import betti as betti
from .class_sets import boundary as boundary, class_region as class_region
from .critical_points import CriticalPoints as CriticalPoints, critical_points as critical_points
from .face_complex import FaceComplex as FaceComplex, faces as faces
from .level_sets import level_set as level_set, sublevel as sublevel, superlevel as superlevel
from .persistence import Persistence as Persistence, persistence as persistence
from .subcomplex import Components as Components, Subcomplex as Subcomplex

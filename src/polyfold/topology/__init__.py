"""The faces of an atlas, and what they say of the shape of sets.

The core names faces by their sign vectors and orients them. `face_complex.py` and `subcomplex.py` hold them,
`subcomplexes.py` chooses level sets, class regions and boundaries, `betti.py` computes homology in integers,
`critical_points.py` looks at lower stars, `persistence.py` asks GUDHI.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

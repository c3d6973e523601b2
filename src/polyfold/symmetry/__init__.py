"""Transformations that leave a network's function the same, and what they leave the same of its weights.

>>> import polyfold as pf
>>> pf.symmetry.Permutation(1, (1, 0)).then(pf.symmetry.Rescaling(1, (2, 2))).inverse()
Composition(steps=(Rescaling(layer=1, factors=(1/2, 1/2)), Permutation(layer=1, order=(1, 0))))
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

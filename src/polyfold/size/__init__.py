"""How many cells a network can have: bounds from the literature, and about how many it has, from a short run."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Whether two networks are the same function, up to what, and in which form they can be compared."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

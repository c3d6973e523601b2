"""The faces of an atlas, and what they say of the shape of sets: one question per file."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

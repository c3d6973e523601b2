"""Statistics of a network over its domain that follow from its atlas without sampling: one question a file."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

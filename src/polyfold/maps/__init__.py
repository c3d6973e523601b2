"""The local affine maps of a network at many inputs, as matrices: how to make, cluster and compare them."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

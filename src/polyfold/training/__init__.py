"""Weights over training: written down as they change, read back as networks, and what they say about the training."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

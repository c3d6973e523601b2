"""Cells or regions as a graph: who touches whom, how far apart they are, and which gates lie between."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

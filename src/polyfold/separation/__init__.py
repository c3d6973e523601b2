"""Which labelled data can be told apart by hyperplanes, one class at a time or by polyhedra, with proofs."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

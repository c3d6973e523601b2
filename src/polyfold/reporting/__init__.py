"""The report on one network: what was found, in plain words and pictures, as one HTML file."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

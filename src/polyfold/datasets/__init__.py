"""Networks and data that come with polyfold: `pf.datasets.iris()`, `pf.datasets.mnist_conv()` ..."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

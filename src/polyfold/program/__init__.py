"""Programs: what the engine runs, and how a Network becomes one."""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

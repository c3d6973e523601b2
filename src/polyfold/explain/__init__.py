"""Which inputs a prediction rests on, so that it adds up.

`shapley/`: `coalitions.py` sums over all hybrids of two points, `structure.py` splits that into small games,
`permutations.py` estimates with proved bounds, `local_models.py` is the closed formula of one cell.
`integrated_gradients/` averages gradients along a line, segment by segment.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

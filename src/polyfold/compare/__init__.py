"""Whether two networks are the same function, up to what, and in which form they can be compared.

`equivalence/`: `decide.py` says in which order; `atoms.py` finds a common form in rationals, `search.py` points that
differ, `paired_atoms.py` and `branching.py` bounds, `by_cells.py` the exact difference; `heads.py` and `with_heads.py`
what models do behind their scores. `canonical/` describes the function whatever the network. `match/` pairs neurons.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Cells or regions as a graph: who touches whom, how far apart they are, and which gates lie between.

`dual.py` reads the graph off the facets, `diameter.py` bounds eccentricities, `path.py` finds ways on it; where no
atlas has the cells, `search.py` and `neighbourhood.py` find them on the way.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Everything known about the cells of one network on one domain.

`atlas.py` holds the arrays, `cell.py` is one cell of them, `regions.py` the linear regions. `certificate.py` says what
is proved and `digest.py` of which arrays; `evidence.py` carries that into answers. `storage.py` and `stored_program.py`
write and read files. `geometry/` has what follows from the arrays: generators, volumes, maps with error bounds and
exactly, and the cell of a point.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

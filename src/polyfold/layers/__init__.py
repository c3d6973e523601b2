"""Truncation maps: what each layer of a network does to its input space.

`dense_layers.py` reads dense layers in rationals, `build.py` multiplies them, `one_map.py` is the map of one layer,
whose sectors are cells of its atlas; `cones.py` makes layers for given cones, `lifting.py` extends layers that widen,
`interpret.py` follows classes, `film_frames.py` lays frames out that `plotting/film_strip.py` draws.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

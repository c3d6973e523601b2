"""Which labelled data can be told apart, by what, with proofs; and networks that do it, written down.

`hulls.py` finds a hyperplane between two sets or a common point of their hulls, `sequential.py` searches orders and
`realise.py` makes hyperplanes of one, `polyhedral.py` asks for cones and simplices. `interpolation/` turns each answer
into a network with zero training error.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

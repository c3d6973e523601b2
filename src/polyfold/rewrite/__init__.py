"""Networks rewritten: smaller, shallow, or edited, and the proof that the function is the same.

`reduction/` leaves neurons out in rationals: `plans.py` says what could go, `carriers.py` and `flips.py` what takes
over, `rounding_error.py` what floats cost. `stability/` settles which gates never switch, `claims.py` keeps what is
known. `two_layer/` is the theory of one hidden layer. `shallow/` writes any network with three hidden layers.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

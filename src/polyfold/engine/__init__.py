"""From a program and a domain to an atlas, and to what can be known without one. See the README in this folder.

`method.py` chooses how. `unfold.py`, `count.py`, `resume.py` and `blocks.py` run the compiled core under the clock
(`run.py`); `slices/` does lines and planes, `cells/` single cells, `bounds/` what linear programs and relaxations say,
`proof/` checks and certificates. `source.py` is the one coercion of what users have in hand.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""The report on one network: what was found, in plain words and pictures, as one HTML file.

`subject.py` looks over what was given, `collect/` asks the questions step by step under one clock, `figures/` has the
small ones that nothing else needs, `sections/` say the results in plain text, `page.py` explains words where they first
appear.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Weights over training: written down as they change, read back as networks, and what they say about it.

`recorder.py` copies what changed (`weights.py`), `log_file.py` appends it to a file, `template.py` finds which array
becomes which constant of the network. `boundary_movement.py` unfolds two snapshots side by side.
"""

from polyfold._base.faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

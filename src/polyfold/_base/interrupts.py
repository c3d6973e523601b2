"""Ctrl-C, noted; see `clock.py`."""

from polyfold._base.clock import interrupts_noted

__all__ = ["interrupts_noted"]

"""Stands for the extension that `processor` chooses: whoever imports this module gets that one."""

from __future__ import annotations

import sys

from polyfold._core.processor import load

sys.modules[__name__] = load()

"""Which of the compiled cores runs here.

The core is built for several sets of instructions, each an extension of its own: `_native_plain`, which runs
everywhere, and `_native_x86_64_v3`. The best that was built and that the processor has is loaded, and only that one.
The variable POLYFOLD_INSTRUCTIONS names another, to compare them or to look for a fault. All of them find the same
cells in the same order; the last bits of floats may differ, because fused products round once.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from polyfold._core._processor import instructions

VARIABLE = "POLYFOLD_INSTRUCTIONS"


def extension(wanted: str) -> str:
    """The module with the core for these instructions.

    >>> extension("x86-64-v3")
    'polyfold._core._native_x86_64_v3'
    """
    return f"polyfold._core._native_{wanted.replace('-', '_')}"


def built() -> tuple[str, ...]:
    """The sets of instructions that this processor has and that the core was built for, the best first."""
    return tuple(each for each in instructions() if find_spec(extension(each)))


def choose(wanted: str | None, possible: tuple[str, ...]) -> str:
    """The set to take: the one that is wanted, or else the best.

    >>> choose(None, ("x86-64-v3", "plain")), choose("plain", ("x86-64-v3", "plain"))
    ('x86-64-v3', 'plain')
    """
    if not possible:
        raise ImportError(
            f"polyfold was built for none of the instructions that this processor has ({', '.join(instructions())}): "
            "install it anew on this machine"
        )
    if wanted and wanted not in possible:
        raise ImportError(f"{VARIABLE} is {wanted!r}; here it can be {' or '.join(possible)}, or unset")
    return wanted or possible[0]


def load() -> ModuleType:
    """The compiled core."""
    return import_module(extension(choose(os.environ.get(VARIABLE), built())))


def about() -> str:
    """A line on what is loaded, and on what else could be.

    >>> print(about())
    compiled core for ...; this processor runs ..., of which polyfold was built for ...
    """
    taken, possible = choose(os.environ.get(VARIABLE), built()), built()
    return (
        f"compiled core for {taken}; this processor runs {' and '.join(instructions())}, "
        f"of which polyfold was built for {' and '.join(possible)}"
    )

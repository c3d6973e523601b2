"""Whether an answer speaks of a model's outputs or of the scores before its head."""

from __future__ import annotations

from typing import Any, Literal

from polyfold.errors import PolyfoldError
from polyfold.network.head import Head, what_it_speaks_of

Of = Literal["scores", "outputs"]


def asked_of(of: Any, head: Head | None, question: str) -> str:
    """What the answer speaks of, in words; refused if outputs are asked for that have a head.

    >>> asked_of("outputs", None, "the mean")
    "the model's outputs"
    """
    if of not in ("scores", "outputs"):
        raise PolyfoldError(f"of={of!r} must be 'scores' or 'outputs'")
    if of == "outputs" and head is not None:
        raise PolyfoldError(
            f"{question} is exact for piecewise-linear functions, and the model's outputs are none: the model ends in "
            f"{head}. Ask for the scores before it (of='scores'), or sample network.model_outputs(X)"
        )
    return what_it_speaks_of(head)

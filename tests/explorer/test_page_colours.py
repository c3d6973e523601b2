"""The colours of the explorer's page: what is written or drawn in one stands out from what is behind it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf

STATIC = Path(pf.__file__).parent / "explorer" / "static"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out(theme: str) -> None:
    blocks = dict(
        zip(
            ("light", "dark"),
            re.findall(r"{(.*?)}", (STATIC / "colours.css").read_text(encoding="utf-8"), re.DOTALL),
            strict=True,
        )
    )
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[theme]))
    written = {
        "text": ("ground", "surface", "raised", "canvas"),
        "quiet": ("ground", "surface", "raised"),
        "accent": ("ground", "surface", "raised"),
        "error": ("ground", "surface"),
        "on-accent": ("accent",),
    }
    for text, grounds in written.items():
        for ground in grounds:
            assert contrast(colours[text], colours[ground]) >= 4.5, (theme, text, ground)
    # What is not text but has to be seen: edges of controls, folds, the decision boundary, the chosen cell.
    for name, ground in (
        ("edge", "surface"),
        ("edge", "ground"),
        ("fold", "canvas"),
        ("boundary", "canvas"),
        ("mark", "canvas"),
    ):
        assert contrast(colours[name], colours[ground]) >= 3, (theme, name, ground)


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)

"""The report as one HTML page: everything inline, nothing loaded, no script. The template escapes all texts.

Whatever a block says, its words are explained in front of it if no block before it has used them. So the page explains
every word where it first appears, whichever sections a network's report has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyfold._base.templates import template
from polyfold.plotting.render import svg
from polyfold.plotting.render.svg_grid import draw_grid
from polyfold.plotting.scene.shapes import Grid
from polyfold.reporting.blocks import Block, Figure, Folded, Section, texts
from polyfold.reporting.glossary import Term, to_explain

if TYPE_CHECKING:
    from markupsafe import Markup

_FOLDER = Path(__file__).parent


def page(title: str, subtitle: str, sections: Sequence[Section], foot: Sequence[str]) -> str:
    """The whole page. The same sections give the same text."""
    from markupsafe import Markup

    writer = _Writer()
    shown = [
        {"name": section.name, "title": section.title, "blocks": [writer.shown(block) for block in section.blocks]}
        for section in sections
    ]
    return template(_FOLDER / "page.html").render(
        title=title,
        subtitle=subtitle,
        style=Markup(svg.style() + (_FOLDER / "style.css").read_text(encoding="utf-8")),
        sections=shown,
        words=sorted(writer.explained, key=lambda term: term.word.lower()),
        foot=foot,
        address=_address,
    )


@dataclass(frozen=True)
class _Shown:
    """A block as the template takes it: its kind, what is new in it, and what is in it that is no text."""

    kind: str
    block: Block
    new: Sequence[Term] = ()
    picture: Markup | None = None
    inner: tuple[_Shown, ...] = ()


class _Writer:
    """Goes through blocks in order, numbers their pictures and remembers which words it has explained."""

    def __init__(self) -> None:
        self.explained: list[Term] = []
        self._pictures = 0

    def shown(self, block: Block) -> _Shown:
        """A block, with explanations of what is new in it. In a folded one they would be hidden."""
        new = to_explain(texts(block), [term.word for term in self.explained])
        self.explained += new
        return self._bare(block, new)

    def _bare(self, block: Block, new: Sequence[Term] = ()) -> _Shown:
        kind = type(block).__name__
        if isinstance(block, Figure):
            return _Shown(kind, block, new, picture=self._picture(block))
        if isinstance(block, Folded):
            return _Shown(kind, block, new, inner=tuple(self._bare(one) for one in block.blocks))
        return _Shown(kind, block, new)

    def _picture(self, figure: Figure) -> Markup:
        from markupsafe import Markup

        self._pictures += 1
        scene, name = figure.scene, f"picture{self._pictures}"
        if isinstance(scene, Grid):
            return Markup(draw_grid(scene, name=name, description=figure.description))
        return Markup(svg.draw(scene, name=name, description=figure.description))


def _address(term: Term) -> str:
    return "word-" + re.sub(r"\W+", "-", term.word.lower())

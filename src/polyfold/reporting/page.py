"""The report as one HTML page: everything inline, nothing loaded, no script. All escaping happens here.

Whatever a block says, its words are explained in front of it if no block before it has used them. So the page explains
every word where it first appears, whichever sections a network's report has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from polyfold.plotting.render import svg
from polyfold.plotting.render.svg_grid import draw_grid
from polyfold.plotting.scene.shapes import Grid, Scene
from polyfold.reporting.blocks import Block, Figure, Folded, Items, Note, Paragraph, Section, Table, Tiles, texts
from polyfold.reporting.glossary import Term, to_explain


def page(title: str, subtitle: str, sections: Sequence[Section], foot: Sequence[str]) -> str:
    """The whole page. The same sections give the same text."""
    writer = _Writer()
    body = "\n".join(writer.section(section) for section in sections)
    entries = "".join(f'<li><a href="#{section.name}">{escape(section.title)}</a></li>' for section in sections)
    style = svg.style() + Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    words = _all_words(writer.explained)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="polyfold">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>{escape(title)}</h1>
<p class="subtitle">{escape(subtitle)}</p>
</header>
<nav aria-label="Contents"><ol>{entries}<li><a href="#words">All words of this report</a></li></ol></nav>
<main id="content">
{body}
{words}
</main>
<footer>
{"".join(f"<p>{escape(line)}</p>" for line in foot)}
</footer>
</body>
</html>
"""


class _Writer:
    """Writes blocks in order and remembers which words it has explained."""

    def __init__(self) -> None:
        self.explained: list[Term] = []
        self._pictures = 0

    def section(self, section: Section) -> str:
        inner = "\n".join(self.block(block) for block in section.blocks)
        name = escape(section.name, quote=True)
        return f'<section id="{name}">\n<h2>{escape(section.title)}</h2>\n{inner}\n</section>'

    def block(self, block: Block) -> str:
        """A block, behind the explanations of what is new in it. In a folded one they would be hidden."""
        new = to_explain(texts(block), [term.word for term in self.explained])
        self.explained += new
        return _explanations(new) + self._bare(block)

    def _bare(self, block: Block) -> str:
        match block:
            case Paragraph(text):
                return f"<p>{escape(text)}</p>"
            case Items(many):
                return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in many) + "</ul>"
            case Note(text):
                return f'<p class="note">{escape(text)}</p>'
            case Tiles(pairs):
                tiles = "".join(
                    f"<div><dt>{escape(what)}</dt><dd>{escape(number)}</dd></div>" for number, what in pairs
                )
                return f'<dl class="tiles">{tiles}</dl>'
            case Table():
                return _table(block)
            case Figure():
                self._pictures += 1
                picture = _picture(block.scene, f"picture{self._pictures}", block.description)
                return f"<figure>{picture}<figcaption>{escape(block.caption)}</figcaption></figure>"
            case Folded(title, blocks):
                inner = "".join(self._bare(one) for one in blocks)
                return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def _picture(scene: Scene | Grid, name: str, description: str) -> str:
    if isinstance(scene, Grid):
        return draw_grid(scene, name=name, description=description)
    return svg.draw(scene, name=name, description=description)


def _explanations(terms: Sequence[Term]) -> str:
    if not terms:
        return ""
    lines = "".join(
        f'<p><dfn id="{_address(term)}">{escape(term.word)}</dfn>: {escape(term.sentence)}</p>' for term in terms
    )
    return f'<aside class="words" aria-label="Words explained">{lines}</aside>\n'


def _all_words(terms: Sequence[Term]) -> str:
    rows = "".join(
        f'<dt><a href="#{_address(term)}">{escape(term.word)}</a></dt><dd>{escape(term.sentence)}</dd>'
        for term in sorted(terms, key=lambda term: term.word.lower())
    )
    return f'<section id="words">\n<h2>All words of this report</h2>\n<dl class="glossary">{rows}</dl>\n</section>'


def _table(table: Table) -> str:
    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{'' if k in table.words else ' class=number'}>{escape(text)}</{tag}>" for k, text in enumerate(row)
        )

    rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.caption, quote=True)}"><table>'
        f"<caption><span>{escape(table.caption)}</span></caption><thead><tr>{cells(table.head, 'th')}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _address(term: Term) -> str:
    return "word-" + re.sub(r"\W+", "-", term.word.lower())

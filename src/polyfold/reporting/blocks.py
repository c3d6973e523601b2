"""What a report's text is made of. All texts are plain: the page escapes them, and explains the words in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polyfold.plotting.scene.shapes import Grid, Scene


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list, in order of importance."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows under headings, with a sentence that says what they are. `words` are the columns that hold no numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Tiles:
    """A few numbers that stand out, each with what it counts."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture, and the sentences under it. `description` says what is to be seen, for those who cannot see it."""

    scene: Scene | Grid
    caption: str
    description: str


@dataclass(frozen=True)
class Note:
    """What was not done, or holds only with a caution."""

    text: str


@dataclass(frozen=True)
class Folded:
    """Details for those who want them, below a line that opens them."""

    title: str
    blocks: tuple[Block, ...]


Block = Paragraph | Items | Table | Tiles | Figure | Note | Folded


@dataclass(frozen=True)
class Section:
    """A part of the report; `name` is its address within the page."""

    name: str
    title: str
    blocks: tuple[Block, ...]


def texts(block: Block) -> Iterator[str]:
    """Everything that readers see of a block, in order."""
    match block:
        case Paragraph(text) | Note(text):
            yield text
        case Items(many):
            yield from many
        case Table(caption, head, rows):
            yield caption
            yield from head
            for row in rows:
                yield from row
        case Tiles(pairs):
            for number, what in pairs:
                yield f"{number} {what}"
        case Figure(scene, caption, description):
            yield description
            yield from _in_scene(scene)
            yield caption
        case Folded(title, blocks):
            yield title
            for inner in blocks:
                yield from texts(inner)


def _in_scene(scene: Scene | Grid) -> Iterator[str]:
    if isinstance(scene, Grid):
        yield from (scene.title, *scene.row_names, *scene.notes)
        yield from (picture.title for row in scene.rows for picture in row if picture is not None)
        return
    yield from (scene.title, *scene.axes.labels, *scene.notes)
    for part in scene.parts:
        yield part.name
        yield from getattr(part, "hover", ())
        yield from getattr(part, "labels", ())
        colouring = getattr(part, "colouring", None)
        if colouring is not None:
            yield colouring.label
            yield from colouring.names or ()

"""Reading a report as a browser would: texts in order, what is loaded, and where words are explained."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}
UNSEEN = {"style", "script"}


class Reading(HTMLParser):
    """The page's elements and visible texts in order. Fails on tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.explained: dict[str, int] = {}
        self.length = 0
        self._in_definition = False
        self.feed(page)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "dfn":
            self._in_definition = True

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()
        self._in_definition = self._in_definition and tag != "dfn"

    def handle_data(self, data):
        if any(tag in UNSEEN for tag in self.open) or "title" in self.open[:2]:
            return
        if self._in_definition:
            self.explained.setdefault(data.lower(), self.length)
        self.texts.append(data)
        self.length += len(data)

    @property
    def text(self) -> str:
        """All that is seen, tooltips among it."""
        return "".join(self.texts)

    @property
    def words(self) -> str:
        """The same on one line."""
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def loads(self) -> list[str]:
        """Everything that makes a browser fetch something."""
        found = []
        for tag, attributes in self.tags:
            for name in ("src", "srcset", "data", "action", "poster", "background", "xlink:href"):
                if attributes.get(name):
                    found.append(f"{tag} {name}={attributes[name]}")
            href = attributes.get("href")
            # A picture within the text is no other file.
            inside = ("#", "data:image/png;base64,") if tag == "image" else ("#",)
            if href and not href.startswith(inside):
                found.append(f"{tag} href={href}")
        return found


def rows(page: str, caption: str) -> list[list[str]]:
    """The texts of a table's cells, its head first; the caption may be given by how it begins."""
    for table in re.findall(r"<table>(.*?)</table>", page, flags=re.DOTALL):
        if f"<caption><span>{caption}" in table:
            found = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
            return [[_plain(cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)] for row in found]
    raise AssertionError(f"there is no table {caption!r}")


def _plain(text: str) -> str:
    import html

    return html.unescape(re.sub(r"<[^>]*>", "", text))

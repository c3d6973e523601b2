"""The documents hold together: links lead somewhere, tables are complete, no machine shows through."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        assert (path.parent / target.split("#")[0]).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_absolute_paths(path: Path) -> None:
    assert not re.search(r"(?<![\w.])/(home|work|root|tmp|Users)/", path.read_text(encoding="utf-8"))


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        relative = path.relative_to(ROOT / "docs").as_posix()
        assert relative == "index.md" or f"]({relative})" in index, f"docs/index.md does not link to {relative}"


def test_ops_table_is_complete() -> None:
    tree = ast.parse((ROOT / "src" / "polyfold" / "network" / "ops.py").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "networks.md").read_text(encoding="utf-8")
    names = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Op" for base in node.bases)
    ]
    assert names
    for name in names:
        assert f"`{name}`" in page, f"docs/networks.md does not speak of {name}"


def test_glossary_has_the_words() -> None:
    text = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8")
    words = [
        "gate",
        "pattern",
        "cell",
        "region",
        "wall",
        "facet",
        "fold",
        "map",
        "witness",
        "domain",
        "atlas",
        "certificate",
    ]
    assert not [word for word in words if not re.search(rf"^\|[^|]*\b{word}\b[^|]*\|", text, re.MULTILINE)]

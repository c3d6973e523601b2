"""Hooks of the site that mkdocs builds (see mkdocs.yml): what is not in docs/, and the reference.

- The documents at the top of the repository (glossary, architecture, ...) become pages beside those of docs/.
- Links that leave docs/ lead to these pages; what they say about files of the source tree stays as plain text.
- The reference has one page per namespace with everything that is public there, from the docstrings.
- Doctests in docstrings are shown as code.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")
DOCTEST = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
TOP = "the top level"


class Doctests(griffe.Extension):
    """Fences around doctests that have no heading of their own: in Markdown `>>>` quotes and `[[` may be a link."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring and "Examples\n---" not in obj.docstring.value:
            obj.docstring.value = DOCTEST.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """What follows from the tree need not be listed in mkdocs.yml."""
    assert isinstance(config.nav, list)
    decisions = [f"adr/{path.name}" for path in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    inside = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", {"Decisions": decisions}]
    config.nav += [{"Reference": [f"reference/{page_of(space)}.md" for space in namespaces()]}, {"Inside": inside}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents at the top and the pages of the reference."""
    for path in sorted(ROOT.glob("*.md")):
        name = "readme.md" if path.name == "README.md" else path.name
        files.append(File.generated(config, name, content=from_the_top(path.read_text(encoding="utf-8"))))
    for space, names in namespaces().items():
        files.append(File.generated(config, f"reference/{page_of(space)}.md", content=reference(space, names)))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Links to what is no page of the site lose their target."""
    here = Path(page.file.src_uri).parent

    def lead(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        in_repository = (ROOT / "docs" / here / target).resolve()
        if in_repository.parent == ROOT and in_repository.suffix == ".md":
            up = "../" * (len(here.parts))
            name = "readme.md" if in_repository.name == "README.md" else in_repository.name
            return f"[{text}]({up}{name}{anchor})"
        known = files.get_file_from_path(normal(here / target)) is not None
        return f"[{text}]({target}{anchor})" if known else text

    return LINK.sub(lead, markdown)


def from_the_top(markdown: str) -> str:
    """A document of the repository's top, with its links as they look from docs/."""
    return re.sub(r"(\]\(|src=\")docs/", r"\1", markdown)


def normal(path: Path) -> str:
    """A path without its ways up and down again."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def page_of(space: str) -> str:
    """The name of a namespace's page."""
    return "index" if space == TOP else space


def namespaces() -> dict[str, dict[str, Any]]:
    """Everything public, by namespace."""
    sys.path.insert(0, str(ROOT / "tests"))
    from helpers.public import public

    found: dict[str, dict[str, Any]] = {TOP: {}}
    for dotted, value in public().items():
        space, _, name = dotted.rpartition(".")
        found.setdefault(space or TOP, {})[name] = value
    return found


def reference(space: str, names: dict[str, Any]) -> str:
    """The page of one namespace: functions first, then types."""
    prefix = "polyfold" if space == TOP else f"polyfold.{space}"
    parts = [f"# {prefix}\n"]
    for title, wanted in (("Functions", inspect.isfunction), ("Types", inspect.isclass)):
        chosen = {name: value for name, value in sorted(names.items()) if wanted(value)}
        if chosen:
            parts.append(f"## {title}\n")
        for name, value in chosen.items():
            # By the module that defines it: `polyfold.stats.lipschitz` is a module and a function.
            parts.append(f"### {name} {{ #{prefix}.{name} }}\n\n::: {value.__module__}.{value.__qualname__}\n")
    return "\n".join(parts)

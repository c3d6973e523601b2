"""The documents hold together: links lead somewhere, tables are complete, no machine shows through."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import polyfold as pf
from polyfold.network.read.onnx_ops import ONNX_OPS
from polyfold.network.read.torch_ops import TORCH_OPS

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "src", "native")
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *(path for each in FOLDERS for path in sorted((ROOT / each).rglob("*.md")))]
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


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    """Decisions and the documents at the top are added by tools/site.py."""
    listed = re.findall(r"[\w/.-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2])
    pages = [path.name for path in sorted((ROOT / "docs").glob("*.md"))]
    assert sorted(pages) == sorted(set(listed) - {"readme.md", "GLOSSARY.md"})
    assert len(listed) == len(set(listed))


def test_what_networks_are_supported_is_up_to_date() -> None:
    tool = ROOT / "tools" / "write_networks_page.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_operator_says_what_it_becomes() -> None:
    for table in (TORCH_OPS, ONNX_OPS):
        readings = table.listed()
        assert readings and all(reading.limits if reading.refused else reading.becomes for reading in readings)
    page = (ROOT / "docs" / "networks.md").read_text(encoding="utf-8")
    assert "## What networks are supported" in page
    for name in ("conv2d", "rnn_relu", "ConvTranspose", "Resize", "Largest"):
        assert f"`{name}`" in page


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


def test_the_table_of_old_names_leads_to_what_there_is() -> None:
    rows = re.findall(r"^\| `pf\.(\w+)` \| `pf\.([\w.]+)` \|$", (ROOT / "docs" / "from-0.1.md").read_text(), re.M)
    assert len(rows) > 120
    for old, new in rows:
        found = pf
        for part in new.split("."):
            found = getattr(found, part)
        assert old not in pf.__all__

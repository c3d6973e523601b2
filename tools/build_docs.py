"""Render the Markdown documents to HTML pages.

    python tools/build_docs.py --out out/docs

Links between documents are turned into links between pages.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }}
pre {{ background: #f4f4f2; padding: .8rem; overflow-x: auto }} code {{ font-size: .92em }}
table {{ border-collapse: collapse }} td, th {{ border: 1px solid #ccc; padding: .25rem .6rem }}
img {{ max-width: 100% }}
</style></head>
<body>
{body}
</body>
</html>
"""


def documents(root: Path) -> list[Path]:
    """All Markdown documents: those at the top and everything in docs/."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def render(text: str, name: str) -> str:
    """One document as an HTML page."""
    body = MarkdownIt("commonmark").enable("table").render(text)
    body = re.sub(r'(href="[^":]+)\.md((?:#[^"]*)?")', r"\1.html\2", body)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    return PAGE.format(title=title.group(1) if title else name, body=body)


def main() -> None:
    """Render everything."""
    parser = argparse.ArgumentParser(description="Render the documents to HTML.")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "docs")
    options = parser.parse_args()
    pages = documents(ROOT)
    for path in pages:
        target = options.out / path.relative_to(ROOT).with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(path.read_text(encoding="utf-8"), path.stem), encoding="utf-8")
    if (ROOT / "docs" / "images").is_dir():
        shutil.copytree(ROOT / "docs" / "images", options.out / "docs" / "images", dirs_exist_ok=True)
    print(f"{len(pages)} pages written; start at {options.out / 'docs' / 'index.html'}")


if __name__ == "__main__":
    main()

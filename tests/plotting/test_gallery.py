"""The gallery is what its tool writes, and small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date() -> None:
    tool = ROOT / "tools" / "gallery.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_images_are_small_and_all_shown() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    images = sorted((ROOT / "docs" / "images" / "gallery").iterdir())
    assert images and all(f"(images/gallery/{path.name})" in page for path in images)
    assert sum(path.stat().st_size for path in images) < 1_000_000

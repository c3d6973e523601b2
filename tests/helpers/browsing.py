"""A real browser and its visitors, for the tests of the explorer's page."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyfold as pf

# Everything in the page answers within this time, in seconds, also on a busy machine.
PATIENCE = 30.0


@contextmanager
def running_browser() -> Iterator[Any]:
    """Chromium without a window; without Chromium the tests are skipped, and say so."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("NO BROWSER: the explorer's page is NOT TESTED here; `make browser` installs chromium")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="NO PLAYWRIGHT: the explorer's page is NOT TESTED here"
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visitor:
    """One visitor with a browser of their own, who notices everything that goes wrong."""

    def __init__(self, browser: Any, address: str, **settings: Any) -> None:
        self.address = address
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
        self.context.set_default_timeout(PATIENCE * 1000)
        self.complaints: list[str] = []
        self.page = self.new_page()

    def new_page(self) -> Any:
        page = self.context.new_page()
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def opens(self, hash: str = "") -> Visitor:
        self.page.goto(f"{self.address}/{hash}")
        return self.waits()

    def waits(self) -> Visitor:
        """Until the picture is finished and painted."""
        self.until(
            "window.polyfold?.picture && !document.querySelector('#panes[aria-busy]')"
            " && polyfold.pane.done === polyfold.pane.wanted && !polyfold.pane.job"
        )
        return self

    def until(self, expression: str) -> Any:
        """Wait for something to be true in the page, whose policy refuses Playwright's own way of doing so."""
        end = time.monotonic() + PATIENCE
        while not (found := self.page.evaluate(f"Boolean({expression})")):
            assert time.monotonic() < end, f"never true: {expression}; the page says {self.says!r}"
            time.sleep(0.02)
        return found

    @property
    def says(self) -> str:
        return str(self.page.inner_text("#status"))

    def pixel(self, x: float, y: float) -> dict[str, float]:
        """Where a point of the domain is on the picture, for clicks."""
        px, py = self.page.evaluate(
            "([x, y]) => polyfold.pane.camera.toPixel(x, y).map((each) => each / polyfold.pane.ratio)", [x, y]
        )
        return {"x": px, "y": py}

    def clicks(self, x: float, y: float) -> int:
        """Clicks on a point of the domain; the number of the cell that the panel then shows."""
        self.page.locator("#picture").click(position=self.pixel(x, y))
        self.until("polyfold.selection.cell?.cell === polyfold.state.cell && polyfold.state.cell !== null")
        return self.cell

    @property
    def cell(self) -> int:
        """The cell that the panel is about."""
        words = self.page.inner_text("#panel h3")
        assert words.startswith("Cell "), words
        return int(words.removeprefix("Cell "))

    def uploads(self, path: Path) -> Visitor:
        self.page.set_input_files("#upload", str(path))
        return self

    def drops(self, path: Path) -> Visitor:
        """Drags a file onto the page and lets it go there."""
        self.page.evaluate(
            """([name, bytes]) => {
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
                for (const kind of ["dragenter", "dragover", "drop"]) {
                    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
                }
            }""",
            [path.name, list(path.read_bytes())],
        )
        return self

    def goes(self) -> None:
        """Leaves; nothing may have gone wrong."""
        self.context.close()
        assert not self.complaints, self.complaints


def random_network(path: Path, *sizes: int) -> Path:
    """An ONNX file with random weights."""
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(b, a)) / a**0.5, rng.normal(size=b) / 2) for a, b in pairwise(sizes)]
    pf.load(layers).save_onnx(path)
    return path

"""The player in a real browser: the slider, keys and the mark show what the library says."""

from __future__ import annotations

import re
import shutil
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf

CHROMIUM = shutil.which("chromium")
BOX = pf.box(-1, 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[pf.training.Recording, pf.training.Movie]:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise((2, 5, 1))]
    recorder = pf.training.record(layers, every=10)
    for _ in range(40):
        layers[0][1][:] += 0.05 * rng.normal(size=5)
        recorder.step()
    path = tmp_path_factory.mktemp("player") / "a.html"
    X = rng.uniform(-1, 1, size=(20, 2))
    return recorder.recording, pf.training.movie(
        recorder.recording, domain=BOX, out=path, X=X, y=X[:, 0] > 0, step_name="epoch", fps=20
    )


@pytest.fixture
def page(made):
    if CHROMIUM is None:
        warnings.warn("NO BROWSER: the player is not tested; make browser installs chromium", stacklevel=1)
        pytest.skip("there is no chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        found = browser.new_page(viewport={"width": 390, "height": 800})
        wrong: list[str] = []
        found.on("pageerror", lambda error: wrong.append(str(error)))
        found.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        asked: list[str] = []
        found.on("request", lambda request: asked.append(request.url))
        found.goto(Path(made[1].path).as_uri())
        yield found
        browser.close()
    assert not wrong and len(asked) == 1


def test_slider_keys_and_mark(page, made):
    recording, movie = made
    now = page.locator("#now")

    def expected(frame: int) -> str:
        accuracy = f"accuracy {100 * movie.accuracy[frame]:.1f} %"
        return f"epoch {10 * frame} \u00b7 {movie.cells[frame]} cells \u00b7 {accuracy}"

    assert now.inner_text() == expected(0)
    page.get_by_role("slider", name="Frame").fill("3")
    assert now.inner_text() == expected(3)
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == expected(3)
    page.keyboard.press("ArrowRight")
    assert now.inner_text() == expected(4)
    page.keyboard.press("Home")
    page.locator("body").press("ArrowRight")
    assert now.inner_text() == expected(1)
    # It plays to its end and stops there.
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Pause").is_visible()
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert now.inner_text() == expected(4)
    # What it says of a cell is the network's value there, to the digits shown.
    place = page.locator("#picture").bounding_box()
    page.mouse.click(place["x"] + 0.3 * place["width"], place["y"] + 0.4 * place["height"])
    where, said = page.locator("#details").inner_text().split("\n\n")
    found = re.fullmatch(r"x0 = (\S+), x1 = (\S+): cell (\d+), class (\d)", where)
    assert found is not None, where
    x, y, cell, label = (float(part.replace("\u2212", "-")) for part in found.groups())
    assert (x, y) == (pytest.approx(-0.4, abs=0.02), pytest.approx(0.2, abs=0.02))
    a, b, c = _signed(said)
    output = recording.network(-1)(np.array([[x, y]]))[0, 0]
    assert a * x + b * y + c == pytest.approx(output, abs=0.01)
    assert cell == pf.unfold(recording.network(-1), BOX).locate([[x, y]])[0]
    assert label == (output > 0)
    # Nothing is wider than a phone.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def _signed(text: str) -> tuple[float, float, float]:
    """The numbers of "output = a · x0 + b · x1 - c"."""
    found = re.fullmatch(r"output = (\S+) · x0 ([+\u2212]) (\S+) · x1 ([+\u2212]) (\S+)", text)
    assert found is not None, text
    a, first, b, second, c = (part.replace("\u2212", "-") for part in found.groups())
    return float(a), float(b) * (-1 if first == "-" else 1), float(c) * (-1 if second == "-" else 1)


def test_dark_and_light(page):
    """The picture follows the scheme: cells of the same frame get other colours."""
    pixel = "canvas.getContext('2d').getImageData(canvas.width / 3, canvas.height / 3, 1, 1).data"
    middle = f"((canvas) => {pixel}.slice(0, 3).reduce((a, b) => a + b))(document.getElementById('picture'))"
    background = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    _until(page, f"{background} === 'rgb(255, 255, 255)'")
    light = page.evaluate(middle)
    page.emulate_media(color_scheme="dark")
    _until(page, f"{background} === 'rgb(20, 22, 26)'")
    _until(page, f"{middle} < {light}")


def _until(page, condition: str) -> None:
    """Playwright's own way to wait evaluates text in the page, which the page's security policy forbids."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never: {condition}")

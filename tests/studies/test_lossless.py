"""The study of lossless reduction prints what its page shows, but for how long it took."""

from __future__ import annotations

import json
import re
from pathlib import Path

from studies.lossless import main, reduced, subjects

PAGE = Path(__file__).parents[2] / "docs" / "reduction.md"


def rows(text: str) -> list[list[str]]:
    """Lines as words, without the last number, which is a time."""
    lines = [line.split() for line in text.splitlines()]
    return [words if words[0] in ("network", "removed:") else words[:-1] for words in lines if words]


def test_bundled_networks_are_as_the_page_says(capsys):
    main(["--seconds", "60"])
    (shown,) = re.findall(r"^\$ python -m studies.lossless .*?\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    found = rows(capsys.readouterr().out)
    assert len(found) == 5 and found == rows(shown)[:5]


def test_json(capsys, monkeypatch):
    from studies import lossless

    monkeypatch.setattr(
        lossless, "subjects", lambda models: [one for one in subjects(models) if one.name == "mnist_he"]
    )
    main(["--json"])
    (row,) = json.loads(capsys.readouterr().out)["networks"]
    assert (row["network"], row["layers_after"], row["undecided"]) == ("mnist_he", [32, 16], 0)


def test_every_neuron_of_the_small_classifier_switches():
    (subject,) = (one for one in subjects() if one.name == "mnist_he")
    row = reduced(subject, 60)
    assert row.layers_before == row.layers_after == (32, 16) and not row.removed and row.difference == 0

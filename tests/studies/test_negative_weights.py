"""The study of negative weights: it counts right, and the document shows what it prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from datasets.test_digits import stable
from polyfold.datasets.digits import mnist_l1
from polyfold.network import load
from studies.negative_weights import main, negative_weights, trained_networks

PAGE = Path(__file__).parents[2] / "docs" / "symmetry_study.md"


def test_by_hand() -> None:
    network = load([([[1.0, -2.0, 0.0, -1.0], [1.0, 3.0, 0.0, 0.0]], [-5.0, -5.0]), ([[0.0, 0.0]], [-1.0])])
    first, last = negative_weights({"small": network})
    assert (first.network, first.layer, first.neurons, first.weights) == ("small", "linear1", 2, 4)
    assert first.share == (0.25, 0.0, 0.5)
    assert first.part == (0.375, 0.0, 0.75)
    assert first.none_negative == 1
    assert (last.share, last.part, last.none_negative) == ((0.0,) * 3, (0.0,) * 3, 1)


def test_the_document_shows_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    (shown,) = re.findall(r"^\$ python -m studies.negative_weights\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert shown == capsys.readouterr().out


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--json"])
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert len(layers) == 14 and {one["network"] for one in layers} == set(trained_networks())


def test_what_the_document_says() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    layers = {(one.network, one.layer): one for one in negative_weights(trained_networks())}
    he = [one for (network, _), one in layers.items() if network == "mnist_he"]
    assert all(0.45 < one.share[0] < 0.55 for one in he)
    low, high = he[1].share[1:]
    assert f"{low:.0%} to {high:.0%} in the second layer".replace("%", " %") in text
    inputs = {"linear1", "convolution"}
    assert not any(one.none_negative for (_, layer), one in layers.items() if layer not in inputs)
    assert layers["iris", "linear1"].none_negative == 3 and "three such neurons of `iris`" in text
    assert sum(one.none_negative for one in layers.values()) == 3


def test_signs_say_nothing_about_neurons_that_are_always_on() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    (first_on, first_off), (on, off) = stable(mnist_l1())
    share = (mnist_l1()[1][0] < 0).mean(axis=1)[on]
    assert f"proves that {len(on)} neurons of its second layer are always on and {len(off)} always off" in text
    assert f"and {len(first_on)} and {len(first_off)} in the first layer" in text
    assert f"every one has {np.min(share):.0%} to {np.max(share):.0%} negative".replace("%", " %") in text

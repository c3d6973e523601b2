"""The study of locally linear attributes, small: scikit-learn's digits, a few epochs, stopped and resumed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

from polyfold.errors import StorageError
from studies import image_stages, locally_linear
from studies.image_data import pictures
from studies.image_networks import ARCHITECTURES, weights
from studies.image_stages import Study

EPOCHS = {"Dense": 12, "Conv": 30, "Inception": 4, "ResNet": 4}


@pytest.fixture(
    scope="module",
    params=[("Dense", "Conv"), pytest.param(tuple(ARCHITECTURES), marks=pytest.mark.slow)],
    ids=["two", "all"],
)
def names(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return request.param


@pytest.fixture(scope="module")
def folder(names: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def steps(folder: Path) -> Study:
    return Study(pictures(None), folder, lambda text: None, EPOCHS)


@pytest.fixture(scope="module")
def found(steps: Study, names: tuple[str, ...]) -> locally_linear.Found:
    return locally_linear.study(steps, list(names), (1, 10, 2000))


def test_networks_learn_and_maps_are_theirs(found: locally_linear.Found, names: tuple[str, ...]) -> None:
    assert len(found.networks) == len(names)
    assert found.data == "digits" and found.tests == 360
    for made in found.networks:
        assert made is not None
        # By chance 36 would be right.
        assert made.right > 250 and made.residual < 1e-4 and 300 < made.distinct_test <= 360


def test_with_a_cluster_for_every_map_little_is_lost(found: locally_linear.Found) -> None:
    for made in found.networks:
        assert made is not None
        counts = found.clusters[made.name]
        # 2,000 clusters are all 1,437 training maps: the test pictures' nearest ones do better than one mean map.
        assert counts[2000] is not None and counts[1] is not None
        assert counts[2000] > 200 and counts[2000] > counts[1] - 20


def test_transfers_between_all(found: locally_linear.Found, names: tuple[str, ...]) -> None:
    table = found.transfers
    assert table is not None and table.names == names
    rights = [made.right for made in found.networks if made is not None]
    np.testing.assert_allclose(np.diag(table.accuracy) * 360, rights)
    assert (table.accuracy > 0.5).all() and ((table.residual >= 0) & (table.residual < 1)).all()
    np.testing.assert_allclose(table.alignment, table.alignment.T, rtol=0, atol=1e-12)


def test_a_second_time_everything_is_there(
    steps: Study, found: locally_linear.Found, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("done again")

    monkeypatch.setattr(image_stages, "centres_of", refuse)
    monkeypatch.setattr(image_stages, "output_table", refuse)
    again = locally_linear.study(steps, list(names), (1, 10, 2000))
    assert locally_linear.as_json(again) == locally_linear.as_json(found)


def test_stopped_between_outputs(steps: Study, found: locally_linear.Found, monkeypatch: pytest.MonkeyPatch) -> None:
    right = steps.clusters("Dense", 7)
    kept = np.load(steps.place("Dense") / "clusters_7.npz")["values"]
    (steps.place("Dense") / "clusters_7.npz").unlink()
    calls = []
    original = image_stages.centres_of

    def stop_at_the_fourth(rows: np.ndarray, k: int) -> tuple[np.ndarray, float]:
        calls.append(k)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(rows, k)

    monkeypatch.setattr(image_stages, "centres_of", stop_at_the_fourth)
    with pytest.raises(KeyboardInterrupt):
        steps.clusters("Dense", 7)
    assert steps.clusters("Dense", 7) == right and len(calls) == 11
    assert (np.load(steps.place("Dense") / "clusters_7.npz")["values"] == kept).all()


def test_training_goes_on_where_it_stopped(tmp_path: Path) -> None:
    data = pictures(None)
    whole = Study(data, tmp_path / "whole", lambda text: None, {"Conv": 4})
    said: list[str] = []

    def stop(text: str) -> None:
        said.append(text)
        if len(said) == 2:
            raise KeyboardInterrupt

    parts = Study(data, tmp_path / "parts", stop, {"Conv": 4})
    with pytest.raises(KeyboardInterrupt):
        parts.network("Conv")
    again, once = parts.network("Conv"), whole.network("Conv")
    assert len(said) == 4 and again.right == once.right
    for a, b in zip(again.model.parameters(), once.model.parameters(), strict=True):
        assert (a == b).all()
    with pytest.raises(StorageError, match="other data or settings"):
        Study(data, tmp_path / "whole", lambda text: None, {"Conv": 5}).network("Conv")


def test_command(folder: Path, found: locally_linear.Found, names, monkeypatch, capsys, tmp_path: Path) -> None:
    monkeypatch.setattr(locally_linear, "DIGITS_EPOCHS", EPOCHS)
    options = ["--out", str(folder), "--clusters", "1", "10", "2000", "--networks", *names, "--so-far"]
    locally_linear.main([*options, "--json"])
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(locally_linear.as_json(found)))
    locally_linear.main([*options, "--figures", str(tmp_path)])
    text = capsys.readouterr().out
    assert "Table 1: right of 360" in text and "Table 2" in text and "(paper)" not in text
    for name in ("gradients.png", "mapped.png", "centres.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG") and (tmp_path / name).stat().st_size > 5000


def test_so_far_does_nothing(tmp_path: Path, capsys) -> None:
    locally_linear.main(["--out", str(tmp_path / "new"), "--so-far"])
    assert "original" in capsys.readouterr().out and not (tmp_path / "new").exists()


def test_sizes_are_as_the_page_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "paper_001.md").read_text()
    for name, architecture in ARCHITECTURES.items():
        assert f"| {name} | {weights(architecture.build(28)):,} |" in page


def test_mnist_files(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        pictures(tmp_path)
    for kind, count in (("train", 3), ("t10k", 2)):
        for what, axes, magic in (("images", 3, 2051), ("labels", 1, 2049)):
            head = np.array([magic, count, 28, 28][: 1 + axes], dtype=">i4").tobytes()
            with gzip.open(tmp_path / f"{kind}-{what}-idx{axes}-ubyte.gz", "wb") as file:
                file.write(head + bytes(range(count)) if axes == 1 else head + bytes(255 for _ in range(count * 784)))
    found = pictures(tmp_path)
    assert found.name == "MNIST" and found.train.shape == (3, 1, 28, 28) and found.test_labels.tolist() == [0, 1]
    assert found.train.max() == found.train.min() == pytest.approx((1 - 0.1307) / 0.3081)
    with gzip.open(tmp_path / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(b"1234")
    with pytest.raises(StorageError, match="download it again"):
        pictures(tmp_path)

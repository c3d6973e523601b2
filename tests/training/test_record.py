"""Recordings: what comes back is the model as it was, from memory and from files."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.network.same import same_networks

torch: Any = pytest.importorskip("torch")
nn = torch.nn


class Tied(nn.Module):  # type: ignore[name-defined,misc]
    """One layer used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3, bias=False)

    def forward(self, x: Any) -> Any:
        return self.layer(torch.relu(self.layer(x)))


def plain() -> Any:
    return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4), nn.LeakyReLU(0.1), nn.Linear(4, 2, bias=False))


def convolutional() -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 2, 2), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(2, 3),
    )  # fmt: skip


def normalised() -> Any:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def train(model: Any, shape: tuple[int, ...], steps: int, recorder: Any) -> list[Any]:
    """Steps of plain torch training, and copies of the model after each of them, the first one before all."""
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    generator = torch.Generator().manual_seed(0)
    copies = [copy.deepcopy(model)]
    for _ in range(steps):
        loss = (model(torch.randn(8, *shape, generator=generator)) - 1.0).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recorder.step(loss=loss)
        copies.append(copy.deepcopy(model))
    return copies


def agrees(network: Any, module: Any, shape: tuple[int, ...]) -> bool:
    X = torch.randn(50, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = module.eval().double()(X).numpy().reshape(50, -1)
    return bool(np.allclose(network(X.numpy()), expected, rtol=1e-12, atol=1e-12))


MODELS = {
    "plain": (plain, (3,)),
    "tied": (Tied, (3,)),
    "convolutional": (convolutional, (1, 6, 6)),
    "normalised": (normalised, (3,)),
}


@pytest.mark.parametrize(
    ("name", "to_file"),
    [
        pytest.param(name, to_file, marks=[] if to_file or name == "plain" else [pytest.mark.slow])
        for name in MODELS
        for to_file in (False, True)
    ],
)
def test_every_snapshot_is_the_model_of_its_step(name, to_file, tmp_path):
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model = make()
    path = tmp_path / "run" if to_file else None
    with pf.training.record(model, path, every=2, input_shape=shape) as recorder:
        copies = train(model, shape, 5, recorder)
    recording = recorder.recording
    assert recording.steps.tolist() == [0, 2, 4, 5]
    for i, step in enumerate(recording.steps.tolist()):
        assert agrees(recording.network(i), copies[step], shape)
        for array, tensor in zip(recording.weights(i).values(), copies[step].state_dict().values(), strict=True):
            assert np.array_equal(array, tensor.float().numpy())
    assert len(recording.metrics["loss"]) == 5


@pytest.mark.parametrize("name", ["plain", "tied", "convolutional"])
def test_a_file_needs_no_model(name, tmp_path):
    make, shape = MODELS[name]
    model = make()
    with pf.training.record(model, tmp_path / "run", input_shape=shape) as recorder:
        copies = train(model, shape, 2, recorder)
    assert recorder.recording.blueprint.known is not None
    again = pf.training.open(tmp_path / "run")
    assert agrees(again.network(0), copies[0], shape)
    network, loaded = again.network(-1), pf.load(copies[-1], input_shape=shape)
    assert same_networks(network, loaded)
    assert [node.name for node in network.nodes] == [node.name for node in loaded.nodes]
    assert (network.source, network.outputs, network.head) == (loaded.source, loaded.outputs, loaded.head)


def computed() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 2))


def test_computed_weights_need_the_model(tmp_path):
    model = computed()
    with pf.training.record(model, tmp_path / "run") as recorder:
        copies = train(model, (3,), 2, recorder)
    again = pf.training.open(tmp_path / "run")
    assert len(again) == 3
    with pytest.raises(pf.PolyfoldError, match=r"pf.training.open\(path, model=...\)"):
        again.network(0)
    again = pf.training.open(tmp_path / "run", model=computed())
    assert agrees(again.network(-1), copies[-1], (3,))
    with pytest.raises(pf.PolyfoldError, match="Sequential does not take the recorded weights"):
        pf.training.open(tmp_path / "run", model=plain()).network(0)


def test_what_does_not_change_is_kept_once(tmp_path):
    def frozen() -> Any:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 2))
        model[0].requires_grad_(False)
        return model

    model = frozen()
    recorder = pf.training.record(model)
    train(model, (200,), 10, recorder)
    first, last = recorder.recording.snapshots[0], recorder.recording.snapshots[-1]
    assert first["0.weight"] is last["0.weight"] and first["2.weight"] is not last["2.weight"]
    model = frozen()
    with pf.training.record(model, tmp_path / "run") as in_file:
        train(model, (200,), 10, in_file)
    # 160 kB of the first layer once, and eleven times 1.6 kB of the second.
    assert (tmp_path / "run").stat().st_size < 250_000
    for one, other in zip(in_file.recording.snapshots, recorder.recording.snapshots, strict=True):
        assert all(np.array_equal(one[name].read(), other[name].read()) for name in other)


def test_later_changes_do_not_reach_back():
    layers = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    recorder = pf.training.record(layers)
    layers[0][0][:] = 7.0
    assert recorder.recording.weights(0)["0.weight"].tolist() == np.eye(2).tolist()
    with pytest.raises(ValueError, match="read-only"):
        recorder.recording.weights(0)["0.weight"][0, 0] = 1.0


def test_half_precision_is_kept_exactly():
    model = plain().to(torch.bfloat16)
    recording = pf.training.record(model).recording
    assert recording.blueprint.template is not None
    assert agrees(recording.network(0), model, (3,))


class Counting(nn.Module):  # type: ignore[name-defined,misc]
    """A module whose function depends on how often it was trained."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x: Any) -> Any:
        return self.layer(x) * (1.0 + self.count)


def test_counters_that_change_the_function_are_heeded(tmp_path):
    model = Counting()
    with pf.training.record(model, tmp_path / "run") as recorder:
        model.count += 1
        recorder.step()
    assert recorder.recording.blueprint.known is not None
    X = torch.ones(4, 2, dtype=torch.float64)
    for i, count in enumerate((0, 1)):
        model.count.fill_(count)
        with torch.no_grad():
            expected = model.double()(X).numpy()
        assert np.allclose(recorder.recording.network(i)(X.numpy()), expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(pf.PolyfoldError, match="only through the model"):
        pf.training.open(tmp_path / "run").network(1)


def test_models_that_cannot_be_read_are_told_before_they_are_written(tmp_path):
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    with pytest.raises(pf.PolyfoldError, match="anh"):
        pf.training.record(model, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    in_memory = pf.training.record(model).recording
    assert in_memory.weights(0)["0.weight"].shape == (2, 2)
    with pytest.raises(pf.PolyfoldError, match="anh"):
        in_memory.network(0)


def test_scikit_learn_from_its_first_step(tmp_path):
    pytest.importorskip("sklearn")
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X.prod(axis=1) > 0).astype(int)
    model = MLPClassifier((6, 5), random_state=0)
    copies = []
    with pf.training.record(model, tmp_path / "run", every=3) as recorder:
        with pytest.raises(pf.PolyfoldError, match="nothing is recorded yet"):
            _ = recorder.recording
        for _ in range(7):
            model.partial_fit(X, y, classes=[0, 1])
            recorder.step(loss=model.loss_)
            copies.append(copy.deepcopy(model))
    recording = pf.training.open(tmp_path / "run")
    assert recording.steps.tolist() == [1, 3, 6, 7]
    for i, step in enumerate(recording.steps.tolist()):
        network = recording.network(i)
        chance = 1 / (1 + np.exp(-network(X)[:, 0]))
        assert np.allclose(chance, copies[step - 1].predict_proba(X)[:, 1], rtol=1e-12, atol=1e-12)
        assert network.head == pf.load(model).head
    assert recording.metrics["loss"].values.tolist() == [one.loss_ for one in copies]


def test_metrics_and_places_in_time():
    layers = [(np.eye(1), np.zeros(1))]
    recorder = pf.training.record(layers, every=2)
    recorder.step(loss=2.0)
    recorder.step(loss=float("nan"), accuracy=np.float32(0.5))
    recorder.step(loss=torch.tensor(0.25, requires_grad=True))
    found = recorder.recording
    assert found.steps.tolist() == [0, 2] and len(found) == 2
    assert found.metrics["loss"].steps.tolist() == [1, 2, 3]
    assert found.metrics["loss"].values[[0, 2]].tolist() == [2.0, 0.25] and np.isnan(found.metrics["loss"].values[1])
    assert [found.at(step) for step in (0, 1, 2, 9)] == [0, 0, 1, 1]
    frame = found.to_pandas()
    assert frame["step"].tolist() == [0, 2] and frame["accuracy"].tolist()[1] == 0.5
    assert np.isnan(frame["accuracy"].tolist()[0])
    with pytest.raises(IndexError, match="no snapshot at step -1"):
        found.at(-1)
    with pytest.raises(IndexError, match="there is no snapshot 2: the recording has 2"):
        found.network(2)


def test_what_cannot_be_recorded(tmp_path):
    with pytest.raises(pf.PolyfoldError, match="training of a dict cannot be recorded"):
        pf.training.record({})
    with pytest.raises(pf.PolyfoldError, match="every=0 must be a positive number"):
        pf.training.record(plain(), every=0)
    with pytest.raises(pf.PolyfoldError, match="resume=True needs the path"):
        pf.training.record(plain(), resume=True)
    with pytest.raises(pf.PolyfoldError, match="layer 1 must be a pair"):
        pf.training.record([1.0])
    with pytest.raises(pf.PolyfoldError, match="cannot write to"):
        pf.training.record(plain(), tmp_path / "nowhere" / "run")
    with pytest.raises(pf.PolyfoldError, match="loss=bad cannot be logged"):
        pf.training.record(plain()).step(loss="bad")
    layers = [[np.eye(1), np.zeros(1)]]
    recorder = pf.training.record(layers)
    layers[0][0] = np.ones((1, 2))
    with pytest.raises(pf.PolyfoldError, match=r"'0.weight' had shape \(1, 1\) and now has \(1, 2\)"):
        recorder.step()
    with pytest.raises(pf.PolyfoldError, match="input_shape= is only for torch"):
        pf.training.record([(np.eye(1), np.zeros(1))], input_shape=(1,))

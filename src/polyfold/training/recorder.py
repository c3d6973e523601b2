"""record: write a model's weights down while it is trained."""

from __future__ import annotations

import os
import struct
from collections import defaultdict
from collections.abc import Mapping
from numbers import Integral
from os import PathLike
from types import TracebackType
from typing import Any

import numpy as np

from polyfold.errors import PolyfoldError, StorageError
from polyfold.training import log_file
from polyfold.training.recording import InMemory, Kept, Metric, Recording
from polyfold.training.template import Blueprint, blueprint_of
from polyfold.training.template_text import template_from, template_text
from polyfold.training.weights import Weights, kind_of, weights_of

_Logged = list[tuple[str, int, float]]

# What reading a text of any content can raise.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error)


class Recorder:
    """Takes snapshots of a model in training; `pf.training.record` makes one.

    Call `step()` after every step of the training, or after every epoch: whatever shall count as one.
    """

    def __init__(self, model: Any, every: Any, input_shape: Any) -> None:
        kind_of(model)
        if not isinstance(every, Integral) or every < 1:
            raise PolyfoldError(f"every={every!r} must be a positive number of steps")
        self._model: Any = model
        self._input_shape: Any = input_shape
        self._every = int(every)
        self._step = 0
        self._last: Weights = {}
        self._blueprint: Blueprint | None = None
        self._steps: list[int] = []
        self._kept: list[dict[str, Kept]] = []
        self._logged: _Logged = []

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        """How many snapshots have been taken."""
        return len(self._steps)

    def __repr__(self) -> str:
        return f"Recorder: step {self._step}, snapshots every {self._every}"

    def step(self, **metrics: Any) -> None:
        """A step of the training is done. Numbers given by name are logged; every n-th step takes a snapshot.

        A snapshot is also taken of the first weights that there are.
        """
        self._step += 1
        for name, value in metrics.items():
            try:
                # A loss that torch still has a graph of is a number all the same.
                number = float(value.detach() if hasattr(value, "detach") else value)
            except (TypeError, ValueError, RuntimeError):
                raise PolyfoldError(f"{name}={str(value)[:80]} cannot be logged: give a number") from None
            self._logged.append((name, self._step, number))
        if self._step % self._every == 0 or not self._steps:
            self.snapshot()

    def snapshot(self) -> None:
        """Take a snapshot now, unless this step has one."""
        weights = None if self._steps and self._steps[-1] == self._step else weights_of(self._model)
        if weights is None:
            return
        if self._blueprint is None:
            self._blueprint = blueprint_of(self._model, self._input_shape, weights)
        self._check(weights)
        changed = {name: array for name, array in weights.items() if not _same(array, self._last.get(name))}
        self._keep(changed)
        self._last |= changed
        self._steps.append(self._step)

    def close(self) -> None:
        """The training is over: the last weights are kept too."""
        self.snapshot()

    @property
    def recording(self) -> Recording:
        """What has been recorded so far."""
        if self._blueprint is None:
            raise PolyfoldError("nothing is recorded yet: the model has no weights before its first step")
        return Recording(np.array(self._steps), tuple(self._kept), _metrics(self._logged), self._blueprint)

    def _keep(self, changed: Weights) -> None:
        for array in changed.values():
            array.setflags(write=False)
        before = self._kept[-1] if self._kept else {}
        self._kept.append({**before, **{name: InMemory(array) for name, array in changed.items()}})

    def _check(self, weights: Weights) -> None:
        """The model must stay the model that it was."""
        if not self._last:
            return
        then, now = ({name: array.shape for name, array in found.items()} for found in (self._last, weights))
        for name in sorted({*then, *now}):
            if then.get(name) != now.get(name):
                raise PolyfoldError(
                    f"{name!r} had shape {then.get(name)} and now has {now.get(name)}: a recording is of one "
                    "architecture; start another one"
                )


class FileRecorder(Recorder):
    """The same, written to a file snapshot by snapshot. Nothing but the last weights is held in memory."""

    def __init__(self, model: Any, every: Any, input_shape: Any, path: str | PathLike[str], resume: bool) -> None:
        super().__init__(model, every, input_shape)
        self._path = os.fspath(path)
        self._file: log_file.LogFile | None = None
        self._closed = False
        self._written = 0
        if os.path.exists(self._path):
            if not resume:
                raise log_file.already_there(self._path)
            self._go_on()

    def close(self) -> None:
        if not self._closed:
            super().close()
            self._closed = True
            if self._file is not None:
                self._file.close()

    @property
    def recording(self) -> Recording:
        if self._blueprint is None:
            return super().recording
        return open(self._path, model=self._blueprint.model, input_shape=self._input_shape)

    def _keep(self, changed: Weights) -> None:
        if self._closed:
            raise PolyfoldError(
                f"the recording in {self._path!r} is closed: pf.training.record(..., resume=True) goes on"
            )
        assert self._blueprint is not None
        # A model that cannot be read raises here, before there is a file.
        template = None if self._steps else self._blueprint.template
        if self._file is None:
            self._file = log_file.create(self._path)
        if not self._steps:
            self._file.append({"template": None if template is None else template_text(template)}, {})
        self._file.append({"step": self._step, "logged": self._logged[self._written :]}, changed)
        self._written = len(self._logged)

    def _go_on(self) -> None:
        found = _Found(self._path)
        self._file = log_file.reopen(self._path, found.end)
        if found.recording is None:
            return
        known = found.recording
        self._steps = known.steps.tolist()
        self._step = self._steps[-1]
        self._last = known.weights(-1)
        self._blueprint = blueprint_of(self._model, self._input_shape, self._last)
        now = weights_of(self._model)
        if now is not None:
            self._check(now)


class _Found:
    """What a file holds: a recording, or nothing yet, and where its last whole record ends."""

    def __init__(self, path: str | PathLike[str], model: Any = None, input_shape: Any = None) -> None:
        self.end = len(log_file.MAGIC)
        template, steps, logged = None, [], []
        kept: list[Mapping[str, Kept]] = []
        try:
            for number, record in enumerate(log_file.records(path)):
                if number == 0:
                    text = record.text["template"]
                    template = None if text is None else template_from(text)
                else:
                    steps.append(int(record.text["step"]))
                    logged += [(str(name), int(step), float(value)) for name, step, value in record.text["logged"]]
                    kept.append({**(kept[-1] if kept else {}), **record.arrays})
                    self.end = record.end
        except (*_DAMAGE, PolyfoldError) as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"{os.fspath(path)!r} is damaged: {type(error).__name__}: {error}") from None
        self.recording: Recording | None = None
        if kept:
            first = {name: array.read() for name, array in kept[0].items()}
            blueprint = Blueprint(template, model, input_shape, first)
            self.recording = Recording(np.array(steps), tuple(kept), _metrics(logged), blueprint)


def record(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    every: int = 1,
    input_shape: Any = None,
    resume: bool = False,
) -> Recorder:
    """Record the weights of a model while it is trained: a snapshot now, and one every `every` steps.

    Call the recorder's `step()` after each step of the training, with anything to be logged: `step(loss=loss)`. In a
    `with` block, the last weights are kept at its end too. The recorder's `recording` has what there is so far.

    Parameters
    ----------
    model: a torch.nn.Module, a scikit-learn MLPClassifier or MLPRegressor that `partial_fit` trains, or a list of
        (W, b) pairs whose arrays are changed in place.
    path: a new file to write to, snapshot by snapshot, which `pf.training.open` reads; None keeps all in memory.
    every: steps from one snapshot to the next.
    input_shape: as for `pf.load`, for torch modules that do not tell it themselves.
    resume: go on behind the last snapshot if the file is there already.

    >>> import numpy as np, polyfold as pf
    >>> layers = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> with pf.training.record(layers, every=2) as recorder:
    ...     for step in range(5):
    ...         layers[1][1][:] -= 0.1
    ...         recorder.step(loss=1.0 / (step + 1))
    >>> recorder.recording
    Recording: 4 snapshots, steps 0 to 5; logged: loss
    >>> recorder.recording.network(-1)([[1.0, 1.0]]).round(12).tolist()
    [[1.5]]
    """
    if path is None:
        if resume:
            raise PolyfoldError("resume=True needs the path of the file to go on with")
        recorder = Recorder(model, every, input_shape)
    else:
        recorder = FileRecorder(model, every, input_shape, path, resume)
    if not len(recorder):
        recorder.snapshot()
    return recorder


def open(path: str | PathLike[str], *, model: Any = None, input_shape: Any = None) -> Recording:
    """Read a recording that `pf.training.record` wrote, also while it is still being written.

    Parameters
    ----------
    model: a torch module of the recorded architecture. Only needed where weights are computed with before they become
        the network's, as by batch normalisation; then `network()` says so.
    input_shape: as for `pf.load`, for such a module.
    """
    found = _Found(path, model, input_shape)
    if found.recording is None:
        raise StorageError(f"{os.fspath(path)!r} holds no snapshot yet")
    return found.recording


def _same(one: Any, other: Any) -> bool:
    """Bit by bit, so that NaN is the same as itself."""
    return other is not None and one.dtype == other.dtype and one.tobytes() == other.tobytes()


def _metrics(logged: _Logged) -> dict[str, Metric]:
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for name, step, value in logged:
        found[name].append((step, value))
    return {
        name: Metric(np.array([step for step, _ in rows], dtype=np.int64), np.array([value for _, value in rows]))
        for name, rows in found.items()
    }

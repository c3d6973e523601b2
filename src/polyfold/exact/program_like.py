"""The shape of a Program, as passes in floats see it: `polyfold.program` lies above this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class AffineLike(Protocol):
    """A linear function of sources, plus bias."""

    @property
    def bias(self) -> Array: ...
    @property
    def sources(self) -> frozenset[int]: ...
    @property
    def terms(self) -> int: ...
    @property
    def smallest(self) -> float: ...
    def __call__(self, sources: Sequence[Array]) -> Array: ...
    def linear(self, sources: Sequence[Array]) -> Array: ...
    def changed(self, change: Callable[[Array], Array]) -> AffineLike: ...


class StageLike(Protocol):
    """Gates that can be decided together."""

    @property
    def affine(self) -> AffineLike: ...
    @property
    def slope_on(self) -> Array: ...
    @property
    def slope_off(self) -> Array: ...
    @property
    def is_relu(self) -> bool: ...


class StepLike(Protocol):
    """A function of the values so far, and the stage whose gates it feeds, if any."""

    @property
    def affine(self) -> AffineLike: ...
    @property
    def stage(self) -> int | None: ...


class StepsLike(Protocol):
    """A program in the order of a pass."""

    @property
    def steps(self) -> Sequence[StepLike]: ...
    @property
    def output(self) -> AffineLike: ...
    @property
    def value_of_source(self) -> Sequence[int]: ...
    @property
    def last_reader(self) -> Sequence[int]: ...


class ProgramLike(Protocol):
    """Stages, and the output as one more function of what they put out."""

    @property
    def stages(self) -> Sequence[StageLike]: ...
    @property
    def output(self) -> AffineLike: ...
    @property
    def steps(self) -> StepsLike: ...

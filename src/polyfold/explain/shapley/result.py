"""What Shapley values of a network are, and the check that they add up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyfold._base.evidence import THE_NETWORK
from polyfold._base.result import Rows
from polyfold._base.types import Array, Flags, Ids
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.tolerances import ADDS_UP
from polyfold.explain.shapley.hybrids import Hybrids, LocalGame

if TYPE_CHECKING:
    import pandas

Scope = Literal["interventional", "baseline", "cell", "region"]


@dataclass(frozen=True, eq=False)
class LocalModels:
    """Which local model explains each input, and what its expectation is taken over.

    `cells` are the atlas's cells; without an atlas, numbers in the order in which cells were met: inputs with the same
    number share a cell. `regions` are those of `pf.regions`, for scope "region" only. `means` (n, features) are the
    expectations E[x], and `points` says how many of the background are behind each, the input itself left out (0 where
    none are: uniform, or given). `continued`: the expectation is not one over points of the cell, so the local model
    is continued beyond it; of means that were given for regions nobody can tell. `on_wall`: the input lies on a wall,
    or too near to tell, so that it has other cells too.
    """

    cells: Ids
    regions: Ids | None
    means: Array
    points: Ids
    continued: Flags
    on_wall: Flags


@dataclass(frozen=True, eq=False)
class Estimated:
    """How values were estimated: `error` bounds each of them by itself, with the probability `confidence`.

    The bound is proved, from ranges of the features' gains and the variance of the samples; it is 0 where values are
    exact. `permutations` is how many random orders were drawn for each pair of an input and a reference, from `seed`.
    """

    permutations: int
    confidence: float
    seed: int
    error: Array


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(Rows):
    """What each feature adds to each output: base_values[i] + values[i].sum(0) = f(X[i]).

    That values add up was checked when this was made, to 1e-9 of the largest number met, or of the sum of the values'
    sizes if that is larger. `evidence` says what is known of the atlas that was given, if one was.

    Attributes
    ----------
    X : array of float, shape (n, features)
        The inputs.
    values : array of float, shape (n, features, outputs)
        values[i, j, k] is what feature j adds to output k at input i.
    base_values, outputs : array of float, shape (n, outputs)
        What the values are added to, and what they add up to.
    scale : array of float, shape (n,)
        The largest number met in the network or its local models.
    scope, background : str
        What is explained, and in words what the values are relative to.
    feature_names : tuple of str
        Of the features.
    of : str
        Whether f are the model's outputs or the scores before its head.
    function : str
        Whether f is the network's own function or a named neighbour of it.
    """

    X: Array
    values: Array
    base_values: Array
    outputs: Array
    scale: Array
    scope: Scope
    background: str
    feature_names: tuple[str, ...]
    of: str = field(default="the model's outputs", kw_only=True)
    function: str = field(default=THE_NETWORK, kw_only=True)

    def __post_init__(self) -> None:
        n, d, m = self.values.shape
        expected = {"X": (n, d), "base_values": (n, m), "outputs": (n, m), "scale": (n,)}
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ShapeError(f"Shapley values' {name} must have shape {shape}, not {getattr(self, name).shape}")
        if len(self.feature_names) != d:
            raise ShapeError(f"there are {d} features and {len(self.feature_names)} names for them")
        for name in ("values", *expected):
            getattr(self, name).setflags(write=False)
        off = self.efficiency_error
        total = np.einsum("ndm->nm", np.abs(self.values))
        size = np.maximum(self.scale, total.max(axis=1, initial=0.0))
        wrong = np.flatnonzero(~(off <= ADDS_UP * size))
        if len(wrong):
            i = int(wrong[0])
            raise PolyfoldError(
                f"the Shapley values of input {i} miss f(x) - base by {off[i]:.3g}, where the largest number met is "
                f"{size[i]:.3g}: float64 does not suffice for this network there"
            )

    def __len__(self) -> int:
        return len(self.X)

    @property
    def exact(self) -> bool:
        """Whether nothing was estimated; rounding apart, values are then what the scope says."""
        return True

    @property
    def efficiency_error(self) -> Array:
        """|base + sum of the values - f(x)| of every input, the largest over the outputs."""
        gaps = np.abs(np.einsum("ndm->nm", self.values) - (self.outputs - self.base_values))
        found: Array = gaps.max(axis=1, initial=0.0)
        return found

    def facts(self) -> dict[str, Any]:
        """All public fields that say something about the values; the local models are kept out."""
        told = super().facts()
        told.pop("local", None)
        return told | {"exact": self.exact}

    def rows(self) -> dict[str, Any]:
        """One row per input (and output, if there are several) and one column per feature."""
        return dict(self.to_pandas().reset_index())

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with one row per input (and output, if there are several) and one column per feature."""
        from polyfold.explain.shapley.export import data_frame

        return data_frame(self)

    def _sizes(self) -> str:
        n, d, m = self.values.shape
        of = "" if self.of == "the model's outputs" else f" ({self.of})"
        return f"{how_many(n, 'input')}, {how_many(d, 'feature')}, {how_many(m, 'output')}{of}"

    def _whose(self) -> str:
        return "" if self.function == THE_NETWORK else f", of {self.function}"


@dataclass(frozen=True, eq=False, repr=False)
class Shapley(Attribution):
    """SHAP values: the Shapley values of the network itself, features outside a coalition taken from the background.

    They are what the package `shap` calls interventional values, computed as the full sum; `estimate` is there only if
    some of them were estimated.
    """

    estimate: Estimated | None = None

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"estimated, within {self._worst_error():.2g} each"
        return f"Shapley: {self._sizes()}, scope {self.scope!r} against {self.background}; {how}{self._whose()}" + (
            f"; stopped by {self.stopped_by}" if self.stopped_by else ""
        )

    def _worst_error(self) -> float:
        return 0.0 if self.estimate is None else float(self.estimate.error.max(initial=0.0))

    @property
    def exact(self) -> bool:
        """Whether nothing was estimated; rounding apart, values are then what the scope says."""
        return self.estimate is None

    def to_shap(self, output: int | None = None) -> Any:
        """A shap.Explanation, for every shap.plots.*; with one output, or one picked, values are (n, features)."""
        from polyfold.explain.shapley.export import explanation

        return explanation(self, output)

    def plot(self, kind: str = "beeswarm", *, output: int | None = None, row: int | None = None, **options: Any) -> Any:
        """Draw one of shap's plots, such as "beeswarm", "bar", "waterfall" or "heatmap"; `row` picks one input."""
        from polyfold.explain.shapley.export import plot

        return plot(self, kind, output, row, options)


@dataclass(frozen=True, eq=False, repr=False)
class LocalShapley(Attribution):
    """Shapley values of the affine model around each input, against the other points of its cell or region.

    They say how an input differs from what shares its cell; what would happen beyond the cell is not in them. They are
    not SHAP values, and polyfold does not draw them as such.
    """

    local: LocalModels
    _game: LocalGame

    def __repr__(self) -> str:
        return (
            f"LocalShapley: {self._sizes()}, of the affine model of each {self.scope} (not SHAP values) against "
            f"{self.background}; exact{self._whose()}" + ("" if self.evidence.nothing else f"; cells {self.evidence}")
        )

    @property
    def cells(self) -> Ids:
        """The cell of every input."""
        return self.local.cells

    def hybrids(self, *, at_most: int = 4096, seed: int = 0) -> Hybrids:
        """How many hybrids of two points of a cell leave the cell: see `Hybrids`.

        At most so many are looked at for each input; where there are more, so many are drawn at random.
        """
        return self._game.hybrids(self.X, at_most, seed)

"""Truncation: a network as truncation maps of its input space, followed by one affine map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import rows_of
from polyfold._base.result import Rows
from polyfold._base.types import Array, ArrayLike
from polyfold.errors import ShapeError, how_many
from polyfold.exact.linear_algebra import pseudo_inverse
from polyfold.exact.rational_arrays import Rationals, nearest, product, rationals, zeros
from polyfold.exact.rounding import UNIT
from polyfold.exact.tolerances import STATES_ARE_KNOWN
from polyfold.layers.dense_layers import Layer
from polyfold.layers.one_map import TruncationMap
from polyfold.network.graph import Network
from polyfold.program.exact_program import ExactProgram, from_layers

if TYPE_CHECKING:
    from polyfold.layers.interpret import Interpretation
    from polyfold.layers.last_layer import LeastSquares
    from polyfold.layers.proposition import Residuals


@dataclass(frozen=True, eq=False, repr=False)
class Truncation(Rows):
    """A chain of dense ReLU layers as maps of one space to itself, and an affine map to the outputs.

    With W^(l) = W_l ... W_1 and b^(l) = W_l b^(l-1) + b_l, map l is tau of W^(l) and b^(l). If all hidden layers up to
    l are surjective, the values behind layer l are x^(l) = W^(l) x^(tau,l) + b^(l), whatever the input.

    Attributes
    ----------
    network : Network
        As it was loaded.
    names : tuple of str
        Of the ReLUs, one per hidden layer.
    maps : tuple of TruncationMap
        One per hidden layer; all of them map R^dim to itself.
    output_weight, output_bias : array of float
        W^(L) and b^(L), the affine map behind the last truncation.
    surjective : tuple of bool
        For each hidden layer, whether its own weights W_l reach all of its gates; decided in rationals.
    lifted : bool
        Whether inputs are embedded by iota in a space with as many dimensions as the first layer has gates.
    layers : tuple of Layer
        W_l and b_l of all layers in rationals, the first with W~ in place of W_1 if lifted.
    exact_output : tuple of array
        W^(L) and b^(L) in rationals.
    """

    network: Network
    names: tuple[str, ...]
    maps: tuple[TruncationMap, ...]
    output_weight: Array
    output_bias: Array
    surjective: tuple[bool, ...]
    lifted: bool
    layers: tuple[Layer, ...]
    exact_output: tuple[Rationals, Rationals]

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.maps) == len(self.surjective) == len(self.layers) - 1:
            raise ShapeError("a truncation needs a name, a map and a rank for each hidden layer")
        if any(tau.dim != self.dim for tau in self.maps):
            raise ShapeError(f"all truncation maps must be of R^{self.dim}")
        for array in (self.output_weight, self.output_bias):
            array.setflags(write=False)

    def __repr__(self) -> str:
        widths = ", ".join(str(tau.gates) for tau in self.maps)
        where = f"R^{self.dim}" + (f" (R^{self.network.input_dim} embedded)" if self.lifted else "")
        if self.hearsay:
            says = f"how far it is exact was recorded {self.hearsay}, and is not known here"
        elif self.holds:
            says = "the network is these maps and an affine one, proved"
        else:
            says = f"exact up to layer {self.exact_layers}, {self.names[self.exact_layers]!r} is not surjective"
        return f"Truncation of {where}: {how_many(len(self.maps), 'map')} of {widths} gates; {says}"

    def facts(self) -> dict[str, Any]:
        return {
            "dim": self.dim,
            "lifted": self.lifted,
            "holds": self.holds,
            "exact_layers": self.exact_layers,
            "layers": {name: column.tolist() for name, column in self._columns().items()},
        }

    def rows(self) -> dict[str, Any]:
        """One row per hidden layer."""
        return self._columns()

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "name": np.array(self.names),
            "gates": np.array([tau.gates for tau in self.maps], dtype=np.int64),
            "rank": np.array([tau.rank for tau in self.maps], dtype=np.int64),
            "condition": np.array([tau.condition for tau in self.maps]),
            "surjective": np.array(self.surjective, dtype=bool),
            "floats_suffice": np.array(self.floats_suffice, dtype=bool),
        }

    @property
    def dim(self) -> int:
        """Of the space in which states live: the number of inputs, or of the first layer's gates if lifted."""
        return int(self.output_weight.shape[1])

    @property
    def exact_layers(self) -> int:
        """So many hidden layers from the first on are surjective: the proposition is proved for them. None are, if that
        was found by another process, or edited."""
        if self.hearsay:
            return 0
        return next((k for k, reaches in enumerate(self.surjective) if not reaches), len(self.surjective))

    @property
    def holds(self) -> bool:
        """Whether all hidden layers are surjective: then the network is its truncation maps and the affine map."""
        return self.exact_layers == len(self.maps)

    def embed(self, X: Any) -> Array:
        """iota: inputs (k, d) in the space of the states, zeros behind them if it is larger."""
        rows = rows_of(X, self.network.input_dim, shape=self.network.inputs[0].shape)
        return np.concatenate([rows, np.zeros((len(rows), self.dim - rows.shape[1]))], axis=1)

    def states(self, X: Any) -> list[Array]:
        """x^(tau,0), ..., x^(tau,L-1): the inputs (embedded if lifted), and where each truncation map takes them.

        >>> import polyfold as pf
        >>> half = pf.layers.truncation([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1])])
        >>> [state.tolist() for state in half.states([[2, -1]])]
        [[[2.0, -1.0]], [[2.0, 0.0]]]
        """
        found = [self.embed(X)]
        value = found[0]
        for k, tau in enumerate(self.maps):
            if k < self.exact_layers:
                # The same by the proposition. The network's own values do not pass on what was lost on the way back.
                value = np.maximum(value @ nearest(self.layers[k].weight).T + nearest(self.layers[k].bias), 0.0)
                found.append((value - tau.bias) @ tau.inverse.T)
            else:
                found.append(tau(found[-1]))
        return found

    @property
    def floats_suffice(self) -> tuple[bool, ...]:
        """For each hidden layer, whether condition numbers let one expect that `states` is right to four digits.

        An estimate, not a bound. Where it says no, `states_exactly` and `interpret(X, exact=True)` have the truth.
        """
        lost, found = 1.0, []
        for k, tau in enumerate(self.maps):
            # Behind a layer that is not surjective errors of states go through one layer after the other.
            lost = tau.condition * (1.0 if k <= self.exact_layers else lost)
            found.append(lost * UNIT < STATES_ARE_KNOWN)
        return tuple(found)

    def outputs(self, X: Any) -> Array:
        """W^(L) x^(tau,L-1) + b^(L): the network's outputs, if all hidden layers are surjective.

        States may be a billion times as large as outputs, and their digits cancel. So where the proposition says that
        this is what the layers compute, the layers do; elsewhere the sum is taken in rationals, of states in rationals
        if floats do not suffice for these, and rounded once.
        """
        if self.holds:
            value = self.embed(X)
            for layer in self.layers[:-1]:
                value = np.maximum(value @ nearest(layer.weight).T + nearest(layer.bias), 0.0)
            return np.asarray(value @ nearest(self.layers[-1].weight).T + nearest(self.layers[-1].bias))
        weight, bias = self.exact_output
        last = (
            rationals(self.states(X)[-1])
            if self.floats_suffice[-1]
            else self.states_exactly(rows_of(X, self.network.input_dim, shape=self.network.inputs[0].shape))[-1]
        )
        return nearest(product(weight, last.T).T + bias)

    # -- in rationals

    @cached_property
    def program(self) -> ExactProgram:
        """The network without rounding. Its inputs are those of the states' space if lifted."""
        return from_layers([(layer.weight, layer.bias) for layer in self.layers])

    @cached_property
    def exact_inverses(self) -> tuple[Rationals, ...]:
        """The pseudo-inverses of all W^(l) in rationals, whose digits grow with the number of gates."""
        return tuple(pseudo_inverse(tau.exact[0]) for tau in self.maps)

    def states_exactly(self, X: Any) -> list[Rationals]:
        """The states without any rounding, as arrays of rationals; inputs may be rationals as well.

        >>> import polyfold as pf
        >>> third = pf.layers.truncation([([[3]], [-1]), ([[1]], [0])])
        >>> third.states_exactly([[0]])[1].tolist()
        [[1/3]]
        """
        try:
            rows = rationals(X)
        except (ValueError, OverflowError, TypeError, AttributeError) as error:
            raise ShapeError(f"inputs must be rational numbers, as finite floats are: {error}") from None
        rows = rows[None] if rows.shape == (self.network.input_dim,) else rows
        if rows.ndim != 2 or rows.shape[1] != self.network.input_dim:
            wanted = f"X must be rows of {how_many(self.network.input_dim, 'number')}"
            raise ShapeError(f"{wanted}, or one such row; its shape is {rows.shape}")
        found = [np.concatenate([rows, zeros(len(rows), self.dim - rows.shape[1])], axis=1)]
        for tau, inverse in zip(self.maps, self.exact_inverses, strict=True):
            weight, bias = tau.exact
            a = product(weight, found[-1].T) + bias[:, None]
            found.append(product(inverse, np.where(a > 0, a, a * 0) - bias[:, None]).T)
        return found

    # -- questions

    def check(self, X: Any, *, exact: bool = False) -> Residuals:
        """How far x^(l) = W^(l) x^(tau,l) + b^(l) is from true at inputs: see `Residuals`."""
        from polyfold.layers.proposition import residuals

        return residuals(self, X, exact)

    def least_squares(self, X: ArrayLike, y: ArrayLike, targets: ArrayLike | None = None) -> LeastSquares:
        """The last layer as the linear map that takes the classes' mean states to their targets: see `LeastSquares`."""
        from polyfold.layers.last_layer import least_squares

        return least_squares(self, X, y, targets)

    def interpret(self, X: ArrayLike, y: ArrayLike | None = None, *, exact: bool = False) -> Interpretation:
        """What each layer does to the classes of data: see `Interpretation`. In floats, or in rationals, rounded."""
        from polyfold.layers.interpret import interpret

        return interpret(self, X, y, exact)

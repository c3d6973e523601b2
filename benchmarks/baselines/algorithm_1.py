"""Algorithm 1: the pieces of a shallow network by linear programs, over all patterns of each layer.

Local programs first. A pattern of one layer is kept if some activations of the layer before, none of them negative,
give it. Then global programs: every kept pattern of a layer is joined to every pattern of the layers before it that is
still there, and kept if some input has both. What is left gives half-spaces and local linear models.

Inequalities are closed, as the algorithm is written, so that a pattern which only occurs on walls, or in one point, is
kept too. Without biases that is every pattern: all of them hold at 0. `interior` asks the global programs for a ball of
inputs instead, the largest one up to radius 1; then the patterns are those of the cells. Floats decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import highspy
import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.bool_]
Layers = list[tuple[Floats, Floats]]
# The maximum of cost @ z over G z <= h and lower <= z <= upper; None where there is no such z.
Solve = Callable[[Floats, Floats, Floats, Floats, Floats], float | None]

SMALLEST_RADIUS = 1e-9


class Piece(NamedTuple):
    """A pattern, gate by gate, and the gates' values before the ReLU: A x + d."""

    pattern: Bits
    A: Floats
    d: Floats


@dataclass(frozen=True)
class Shallow:
    """Piece p is where H[p] x <= c[p], all gates in order; there the network is alpha[p] x + beta[p]."""

    patterns: Bits
    H: Floats
    c: Floats
    alpha: Floats
    beta: Floats
    programs: int


class Emptiness:
    """Decides whether a program is empty, and counts the programs."""

    def __init__(self, solve: Solve, interior: bool) -> None:
        self.solve, self.interior, self.programs = solve, interior, 0

    def has_local(self, pattern: Bits, W: Floats, b: Floats) -> bool:
        """Whether activations that are not negative give this pattern to the layer."""
        G, h = half_spaces(pattern, W, b)
        free = np.full(G.shape[1], np.inf)
        self.programs += 1
        return self.solve(np.zeros(len(free)), G, h, np.zeros(len(free)), free) is not None

    def has_global(self, piece: Piece) -> bool:
        """Whether inputs have this pattern."""
        G, h = half_spaces(*piece)
        free = np.full(G.shape[1], np.inf)
        if not self.interior:
            self.programs += 1
            return self.solve(np.zeros(len(free)), G, h, -free, free) is not None
        # A gate that is constant has no wall to keep away from: it is on if it is positive.
        constant = ~piece.A.any(axis=1)
        if (piece.pattern != (piece.d > 0))[constant].any():
            return False
        self.programs += 1
        radius = np.linalg.norm(G, axis=1)
        cost = np.append(np.zeros(len(free)), 1.0)
        found = self.solve(cost, np.column_stack([G, radius]), h, np.append(-free, -np.inf), np.append(free, 1.0))
        return found is not None and found > SMALLEST_RADIUS


def find_shallow(layers: Layers, solve: Solve, interior: bool = False) -> Shallow:
    """The algorithm. The last layer has no gates."""
    *hidden, (W_out, b_out) = layers
    test = Emptiness(solve, interior)
    W, b = hidden[0]
    # Inputs have any sign: the first layer's local programs are its global ones.
    pieces = [piece for pattern in all_patterns(len(b)) if test.has_global(piece := Piece(pattern, W, b))]
    # All local programs come first: they do not depend on the pieces.
    of_layer = [[pattern for pattern in all_patterns(len(b)) if test.has_local(pattern, W, b)] for W, b in hidden[1:]]
    for (W, b), patterns in zip(hidden[1:], of_layer, strict=True):
        longer = []
        for piece in pieces:
            A, d = behind(piece, W, b)
            A, d = np.concatenate([piece.A, A]), np.concatenate([piece.d, d])
            candidates = (Piece(np.concatenate([piece.pattern, pattern]), A, d) for pattern in patterns)
            longer += [candidate for candidate in candidates if test.has_global(candidate)]
        pieces = longer
    H, c = zip(*(half_spaces(*piece) for piece in pieces), strict=True)
    alpha, beta = zip(*(behind(piece, W_out, b_out) for piece in pieces), strict=True)
    patterns = np.array([piece.pattern for piece in pieces])
    return Shallow(patterns, np.array(H), np.array(c), np.array(alpha), np.array(beta), test.programs)


def all_patterns(width: int) -> list[Bits]:
    """Every pattern of a layer."""
    return [np.array(bits) for bits in product([False, True], repeat=width)]


def behind(piece: Piece, W: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The next layer's values on a piece, as functions of the input."""
    last = slice(-W.shape[1], None)
    W = W * piece.pattern[last]
    return W @ piece.A[last], W @ piece.d[last] + b


def half_spaces(pattern: Bits, A: Floats, d: Floats) -> tuple[Floats, Floats]:
    """G, h with G z <= h where A z + d has this pattern."""
    sign = np.where(pattern, -1.0, 1.0)
    return sign[:, None] * A, -sign * d


def by_scipy(cost: Floats, G: Floats, h: Floats, lower: Floats, upper: Floats) -> float | None:
    """By SciPy's function."""
    found = linprog(-cost, A_ub=G, b_ub=h, bounds=np.column_stack([lower, upper]), method="highs")
    if found.status == 2:
        return None
    if found.status:
        raise ArithmeticError(found.message)
    return -float(found.fun)


class ByHighs:
    """By HiGHS, the solver inside SciPy, without what SciPy does around it, which takes most of the time."""

    def __init__(self) -> None:
        self.model = highspy.Highs()
        self.model.silent()
        self.model.setOptionValue("presolve", "off")  # programs this small are solved sooner than made smaller

    def __call__(self, cost: Floats, G: Floats, h: Floats, lower: Floats, upper: Floats) -> float | None:
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = G.shape
        program.col_cost_, program.col_lower_, program.col_upper_ = -cost, lower, upper
        program.row_lower_, program.row_upper_ = np.full(len(h), -np.inf), h
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.arange(0, G.size + 1, G.shape[1])
        program.a_matrix_.index_ = np.tile(np.arange(G.shape[1]), len(G))
        program.a_matrix_.value_ = G.ravel()
        self.model.passModel(program)
        self.model.run()
        status = self.model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise ArithmeticError(f"HiGHS ended with {status}")
        return -float(self.model.getInfo().objective_function_value)

"""Ways to write a network differently without changing its function. Factors are powers of two: nothing is rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from polyfold.program.program import Program
from polyfold.testing.networks import Draft, DraftAffine, DraftStage

Rng = np.random.Generator


def draft_of(program: Program) -> Draft:
    """A program, to be edited."""

    def affine(of) -> DraftAffine:
        return DraftAffine({block.source: np.array(block.weight) for block in of.blocks}, np.array(of.bias))

    stages = [
        DraftStage(affine(stage.affine), np.array(stage.slope_on), np.array(stage.slope_off))
        for stage in program.stages
    ]
    return Draft(program.input_dim, stages, affine(program.output))


def permute(rng: Rng, draft: Draft) -> None:
    """The gates of a stage in another order."""
    k = _stage(rng, draft)
    order = rng.permutation(draft.stages[k].width)
    _take_rows(draft.stages[k], order)
    for weights in _readers(draft, k + 1):
        weights[k + 1] = weights[k + 1][:, order]


def rescale(rng: Rng, draft: Draft) -> None:
    """Gates times powers of two, and back behind them."""
    k = _stage(rng, draft)
    factors = 2.0 ** rng.integers(-6, 7, size=draft.stages[k].width)
    _scale_rows(draft.stages[k], factors)
    for weights in _readers(draft, k + 1):
        weights[k + 1] = weights[k + 1] / factors


def split(rng: Rng, draft: Draft) -> None:
    """One gate becomes three: a half and two quarters of it, each in its own scale."""
    k = _stage(rng, draft)
    stage, gate = draft.stages[k], int(rng.integers(draft.stages[k].width))
    width = stage.width
    _take_rows(stage, np.append(np.arange(width), [gate, gate]))
    factors = np.ones(width + 2)
    factors[width:] = 2.0 ** rng.integers(-4, 5, size=2)
    _scale_rows(stage, factors)
    for weights in _readers(draft, k + 1):
        column = weights[k + 1][:, [gate]]
        weights[k + 1] = np.concatenate([weights[k + 1], column / 4, column / 4], axis=1) / factors
        weights[k + 1][:, gate] /= 2


def deepen(rng: Rng, draft: Draft) -> None:
    """A layer in the middle that passes everything on: z = relu(z) - relu(-z)."""
    k = int(rng.integers(len(draft.stages) + 1))
    width = draft.input_dim if k == 0 else draft.stages[k - 1].width
    both = np.concatenate([np.eye(width), -np.eye(width)])
    for affine in draft.affines[k:]:
        affine.weights = {
            source + (source >= k): np.concatenate([weight, -weight], axis=1) if source == k else weight
            for source, weight in affine.weights.items()
        }
    draft.stages.insert(k, _relus(DraftAffine({k: both}, np.zeros(2 * width))))


def deepen_at_the_end(rng: Rng, draft: Draft) -> None:
    """The output goes through one more layer."""
    both, affine = np.concatenate([np.eye(m := len(draft.output.bias)), -np.eye(m)]), draft.output
    last = DraftAffine({source: both @ weight for source, weight in affine.weights.items()}, both @ affine.bias)
    draft.stages.append(_relus(last))
    draft.output = DraftAffine({len(draft.stages): both.T.copy()}, np.zeros(m))


def add_dead(rng: Rng, draft: Draft) -> None:
    """A gate that is never on, and is listened to."""
    k = _stage(rng, draft)
    stage = draft.stages[k]
    _append(stage, {s: np.zeros((1, w.shape[1])) for s, w in stage.affine.weights.items()}, rng.choice([-1.0, 0.0], 1))
    for weights in _readers(draft, k + 1):
        weights[k + 1] = np.concatenate([weights[k + 1], rng.normal(size=(len(weights[k + 1]), 1))], axis=1)


def add_cancelling(rng: Rng, draft: Draft) -> None:
    """Two gates that cut through everything and cancel behind."""
    k = _stage(rng, draft)
    stage, factors = draft.stages[k], np.array([1.0, 4.0])
    rows = {s: factors[:, None] * rng.normal(size=w.shape[1]) for s, w in stage.affine.weights.items()}
    _append(stage, rows, factors * rng.normal())
    for weights in _readers(draft, k + 1):
        column = rng.normal(size=(len(weights[k + 1]), 1))
        weights[k + 1] = np.concatenate([weights[k + 1], column, -column / 4], axis=1)


def turn(rng: Rng, draft: Draft) -> None:
    """Gates that are on where they were off: with slopes p and q, on z, they are gates with slopes -q and -p, on -z."""
    stage = draft.stages[_stage(rng, draft)]
    turned = rng.random(stage.width) < 0.5
    _scale_rows(stage, np.where(turned, -1.0, 1.0))
    on, off = stage.slope_on, stage.slope_off
    stage.slope_on, stage.slope_off = np.where(turned, -off, on), np.where(turned, -on, off)


REWRITES: tuple[Callable[[Rng, Draft], None], ...] = (
    permute,
    rescale,
    split,
    deepen,
    deepen_at_the_end,
    add_dead,
    add_cancelling,
    turn,
)


def rewritten(rng: Rng, program: Program, times: int) -> tuple[Program, str]:
    """The same function as another program, and what was done."""
    draft, names = draft_of(program), []
    for _ in range(times):
        rewrite = REWRITES[rng.integers(len(REWRITES))]
        rewrite(rng, draft)
        names.append(rewrite.__name__)
    return draft.freeze(), ", ".join(names)


def _stage(rng: Rng, draft: Draft) -> int:
    return int(rng.integers(len(draft.stages)))


def _readers(draft: Draft, source: int) -> Iterator[dict[int, np.ndarray]]:
    return (affine.weights for affine in draft.affines if source in affine.weights)


def _take_rows(stage: DraftStage, rows: np.ndarray) -> None:
    stage.affine.weights = {source: weight[rows] for source, weight in stage.affine.weights.items()}
    stage.affine.bias = stage.affine.bias[rows]
    stage.slope_on, stage.slope_off = stage.slope_on[rows], stage.slope_off[rows]


def _scale_rows(stage: DraftStage, factors: np.ndarray) -> None:
    stage.affine.weights = {source: factors[:, None] * weight for source, weight in stage.affine.weights.items()}
    stage.affine.bias = factors * stage.affine.bias


def _append(stage: DraftStage, rows: dict[int, np.ndarray], bias: np.ndarray) -> None:
    stage.affine.weights = {s: np.concatenate([w, rows[s]]) for s, w in stage.affine.weights.items()}
    stage.affine.bias = np.append(stage.affine.bias, bias)
    stage.slope_on = np.append(stage.slope_on, np.ones(len(bias)))
    stage.slope_off = np.append(stage.slope_off, np.zeros(len(bias)))


def _relus(affine: DraftAffine) -> DraftStage:
    width = len(affine.bias)
    return DraftStage(affine, np.ones(width), np.zeros(width))

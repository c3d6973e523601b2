"""The shallow network as a torch module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from polyfold.network.write.head_to_torch import flat_head

if TYPE_CHECKING:
    from polyfold.rewrite.shallow.network import Shallow


class ShallowModule(torch.nn.Module):  # type: ignore[misc]  # torch is looked at without its types
    """Three hidden layers; `alpha` (p, m, n) and `beta` (p, m), the maps of the pieces, are all that can be trained.

    Both halves of the third layer read the same alpha and beta, with opposite signs, so they stay tied. The identity
    blocks, the hyperplanes and the infinite weights are no parameters. Maps of frozen pieces are kept apart, so that
    nothing that training does to the parameters reaches them. Outside the domain, by more than rounding errors, no
    piece passes and the output is zero; `inside(x)` tells.
    """

    hyperplanes: torch.Tensor
    offsets: torch.Tensor
    of_domain: torch.Tensor
    stops: torch.Tensor
    margin: torch.Tensor
    frozen: torch.Tensor
    frozen_alpha: torch.Tensor
    frozen_beta: torch.Tensor

    def __init__(
        self,
        inputs: int,
        outputs: int,
        pieces: int,
        hyperplanes: int,
        conditions: int,
        frozen: int = 0,
        head: torch.nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.head = torch.nn.Identity() if head is None else head
        double = torch.float64
        self.alpha = torch.nn.Parameter(torch.zeros(pieces, outputs, inputs, dtype=double))
        self.beta = torch.nn.Parameter(torch.zeros(pieces, outputs, dtype=double))
        self.register_buffer("hyperplanes", torch.zeros(hyperplanes, inputs, dtype=double))
        self.register_buffer("offsets", torch.zeros(hyperplanes, dtype=double))
        self.register_buffer("of_domain", torch.zeros(hyperplanes, dtype=torch.bool))
        # What stops every piece: closed conditions, open ones, and one that never does to fill up with.
        self.register_buffer("stops", torch.zeros(pieces, conditions, dtype=torch.int64))
        self.register_buffer("margin", torch.zeros((), dtype=double))
        self.register_buffer("frozen", torch.zeros(frozen, dtype=torch.int64))
        self.register_buffer("frozen_alpha", torch.zeros(frozen, outputs, inputs, dtype=double))
        self.register_buffer("frozen_beta", torch.zeros(frozen, outputs, dtype=double))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The model's outputs at rows of inputs: the scores, behind the head if there is one."""
        found: torch.Tensor = self.head(self.scores(x))
        return found

    def scores(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs of the pieces' maps (rows, m)."""
        value = self._values(x)
        # The third layer and the output, relu(v) - relu(-v) where a piece passes: that is v. Written so, its gradient
        # is right where v is 0 as well, where both ReLUs have none.
        return torch.where(self.passes(x)[:, :, None], value, torch.zeros_like(value)).sum(dim=1)

    def hidden(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """What the three hidden layers put out, unit by unit as in the weights that `Shallow.layers` lists.

        The second layer has all closed conditions, then all open ones, whether or not a piece needs them.
        """
        x = x.to(self.offsets.dtype)
        beyond = torch.relu(self._beyond(x))
        first = torch.cat([torch.relu(x), torch.relu(-x), beyond], dim=1)
        second = torch.cat([first, (beyond == 0).to(first.dtype)], dim=1)
        value, passes = self._values(x), self.passes(x)[:, :, None]
        stopped = torch.full_like(value, -torch.inf)
        third = [torch.relu(torch.where(passes, side * value, stopped)).flatten(1) for side in (1, -1)]
        return first, second, torch.cat(third, dim=1)

    def inside(self, x: torch.Tensor) -> torch.Tensor:
        """Whether each row lies in the domain: False if it is outside for sure."""
        x, bounds, offsets = x.to(self.offsets.dtype), self.hyperplanes[self.of_domain], self.offsets[self.of_domain]
        doubt = self.margin * (x.abs() @ bounds.abs().T + offsets.abs())
        return ~(x @ bounds.T - offsets > doubt).any(dim=1)

    def passes(self, x: torch.Tensor) -> torch.Tensor:
        """Which piece passes (rows, p): the one that is violated least, unless the point lies outside the domain."""
        beyond = self._beyond(x)
        zero = torch.zeros(len(x), 1, dtype=beyond.dtype, device=beyond.device)
        amount = torch.cat([torch.relu(beyond), torch.relu(-beyond), zero], dim=1)[:, self.stops].sum(dim=2)
        violated = torch.cat([beyond > 0, beyond <= 0, zero > 0], dim=1)[:, self.stops].sum(dim=2)
        more_than_all = self.stops.shape[1] + 1
        least = torch.where(amount == amount.min(dim=1, keepdim=True).values, violated, more_than_all)
        chosen = torch.nn.functional.one_hot(least.argmin(dim=1), len(self.alpha)).bool()
        return chosen & self.inside(x)[:, None]

    def _values(self, x: torch.Tensor) -> torch.Tensor:
        """Every piece's map (rows, p, m), whether or not it passes."""
        alpha = self.alpha.index_copy(0, self.frozen, self.frozen_alpha)
        beta = self.beta.index_copy(0, self.frozen, self.frozen_beta)
        return torch.einsum("pmn,in->ipm", alpha, x.to(alpha.dtype)) + beta

    def _beyond(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self.hyperplanes.dtype) @ self.hyperplanes.T - self.offsets


def to_torch(shallow: Shallow) -> ShallowModule:
    """A module with the network's weights."""
    stops, frozen = shallow.stops, np.flatnonzero(shallow.frozen)
    counts = shallow.inputs, shallow.outputs, len(shallow), len(shallow.c), stops.shape[1], len(frozen)
    module = ShallowModule(*counts, None if shallow.head is None else flat_head(shallow.head))
    values = {
        "alpha": shallow.alpha,
        "beta": shallow.beta,
        "hyperplanes": shallow.H,
        "offsets": shallow.c,
        "of_domain": shallow.of_domain,
        "stops": stops,
        "margin": shallow.margin,
        "frozen": frozen,
        "frozen_alpha": shallow.alpha[frozen],
        "frozen_beta": shallow.beta[frozen],
    }
    module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in values.items()})
    return module

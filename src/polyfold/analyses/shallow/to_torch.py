"""The shallow network as a torch module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from polyfold.analyses.shallow.network import Shallow


class ShallowModule(torch.nn.Module):  # type: ignore[misc]  # torch is looked at without its types
    """Three hidden layers; `alpha` (p, m, n) and `beta` (p, m), the maps of the pieces, are all that can be trained.

    Both halves of the third layer read the same alpha and beta, with opposite signs, so they stay tied. The identity
    blocks, the hyperplanes and the infinite weights are no parameters. Maps of frozen pieces get no gradient.
    Outside the domain, by more than rounding errors, no piece passes and the output is zero; `inside(x)` tells.
    """

    hyperplanes: torch.Tensor
    offsets: torch.Tensor
    of_domain: torch.Tensor
    stops: torch.Tensor
    margin: torch.Tensor
    frozen: torch.Tensor

    def __init__(self, inputs: int, outputs: int, pieces: int, hyperplanes: int, conditions: int) -> None:
        super().__init__()
        double = torch.float64
        self.alpha = torch.nn.Parameter(torch.zeros(pieces, outputs, inputs, dtype=double))
        self.beta = torch.nn.Parameter(torch.zeros(pieces, outputs, dtype=double))
        self.register_buffer("hyperplanes", torch.zeros(hyperplanes, inputs, dtype=double))
        self.register_buffer("offsets", torch.zeros(hyperplanes, dtype=double))
        self.register_buffer("of_domain", torch.zeros(hyperplanes, dtype=torch.bool))
        # What stops every piece: closed conditions, open ones, and one that never does to fill up with.
        self.register_buffer("stops", torch.zeros(pieces, conditions, dtype=torch.int64))
        self.register_buffer("margin", torch.zeros((), dtype=double))
        self.register_buffer("frozen", torch.zeros(pieces, dtype=torch.bool))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The outputs (rows, m) at rows of inputs."""
        x = x.to(self.alpha.dtype)
        passes = self.passes(x)[:, :, None]
        alpha, beta = self._trained(self.alpha), self._trained(self.beta)
        # The third layer: a piece that is stopped has minus infinity in both of its units.
        value = torch.einsum("pmn,in->ipm", alpha, torch.relu(x))
        value = value - torch.einsum("pmn,in->ipm", alpha, torch.relu(-x)) + beta
        stopped = torch.full_like(value, -torch.inf)
        third = torch.relu(torch.where(passes, value, stopped)), torch.relu(torch.where(passes, -value, stopped))
        return third[0].sum(dim=1) - third[1].sum(dim=1)

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
        worst = violated.max() + 1
        least = torch.where(amount == amount.min(dim=1, keepdim=True).values, violated, worst)
        chosen = torch.nn.functional.one_hot(least.argmin(dim=1), len(self.alpha)).bool()
        return chosen & self.inside(x)[:, None]

    def _beyond(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self.hyperplanes.dtype) @ self.hyperplanes.T - self.offsets

    def _trained(self, parameter: torch.Tensor) -> torch.Tensor:
        frozen = self.frozen.reshape(-1, *(1 for _ in parameter.shape[1:]))
        return torch.where(frozen, parameter.detach(), parameter)


def to_torch(shallow: Shallow) -> ShallowModule:
    """A module with the network's weights."""
    stops = shallow.stops
    module = ShallowModule(shallow.inputs, shallow.outputs, len(shallow), len(shallow.c), stops.shape[1])
    values = {
        "alpha": shallow.alpha,
        "beta": shallow.beta,
        "hyperplanes": shallow.H,
        "offsets": shallow.c,
        "of_domain": shallow.of_domain,
        "stops": stops,
        "margin": shallow.margin,
        "frozen": shallow.frozen,
    }
    module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in values.items()})
    return module

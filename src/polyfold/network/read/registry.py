"""The tables of operators that can be read, with what the documents say of them.

Whoever adds an operator says in the same breath what it becomes and where its limits are; docs/networks.md is
generated from that (tools/write_networks_page.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from polyfold.network.read.builder import MIXES_THE_BATCH, Site, Value
from polyfold.network.read.compose.choose import ONLY_TO_CHOOSE, Comparison

Handler: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Reading:
    """How some operators are read: the function that translates them, and words for the user."""

    names: tuple[str, ...]
    family: str
    handler: Handler
    becomes: str
    limits: str = ""
    refused: bool = False
    batch_anywhere: bool = False
    """Whether the batch axis of an argument may be another one than the first."""
    chooses: bool = False
    """Whether an argument may be the answer of a comparison."""
    exact: bool = False
    """Whether constants may be numbers that floats cannot hold."""
    needs_batch: bool = False
    """Whether every argument must have a batch axis of its own, which none has that was merged with another."""
    one_computed: str = ""
    """If the first argument must be computed and all others constant: what is said where that is not so."""

    def check(self, site: Site, arguments: Sequence[Any]) -> None:
        """Refuse arguments that the handler does not reckon with."""
        values = list(values_in(arguments))
        if not self.chooses and any(isinstance(item, Comparison) for item in arguments):
            site.refuse(ONLY_TO_CHOOSE)
        if not self.batch_anywhere and any(value.batched and value.batch_axis for value in values):
            site.refuse(MIXES_THE_BATCH)
        if self.needs_batch and not all(value.batched for value in values):
            site.refuse(MIXES_THE_BATCH)
        if self.one_computed and not (isinstance(arguments[0], Value) and len(values) == 1):
            site.refuse(self.one_computed)


def values_in(argument: Any) -> Iterator[Value]:
    """The computed tensors among arguments, however nested."""
    if isinstance(argument, Value):
        yield argument
    elif isinstance(argument, Comparison):
        yield argument.value
    elif isinstance(argument, (list, tuple)):
        for item in argument:
            yield from values_in(item)
    elif isinstance(argument, dict):
        yield from values_in(tuple(argument.values()))


class Readings:
    """Operators by name."""

    def __init__(self) -> None:
        self._by_name: dict[str, Reading] = {}

    def get(self, *names: str) -> Reading | None:
        """The reading of the first of these names that there is."""
        return next((self._by_name[name] for name in names if name in self._by_name), None)

    def listed(self) -> list[Reading]:
        """All readings, each once, in the order of registration."""
        return list({id(reading): reading for reading in self._by_name.values()}.values())

    def family(self, family: str, *, needs_batch: bool = False) -> Callable[..., Callable[[Handler], Handler]]:
        """A decorator that registers handlers under a heading of the documents; its keywords are Reading's."""

        def handles(*names: str, **words: Any) -> Callable[[Handler], Handler]:
            def register(handler: Handler) -> Handler:
                self._add(Reading(names, family, handler, needs_batch=needs_batch, **words))
                return handler

            return register

        return handles

    def refuse(self, *names: str, because: str) -> None:
        """Operators that are known and not read, with the reason that the error gives."""

        def refuse(site: Site, *arguments: Any, **options: Any) -> None:
            site.refuse(because)

        self._add(Reading(names, "Refused", refuse, "", because, refused=True, batch_anywhere=True))

    def _add(self, reading: Reading) -> None:
        for name in reading.names:
            assert name not in self._by_name, f"{name} is registered twice"
            self._by_name[name] = reading


# What is said of several operators.
COMPUTED_WEIGHTS = "its weights are computed from the network's input"
COMPUTED_KERNEL = "its kernel is computed from the network's input"
COMPUTED_CHOICE = "which numbers it takes depends on the network's input"
COMPUTED_PLACES = "which entries it changes depends on the network's input"
COMPUTED_SLOPE = "its slope is computed from the network's input"
NO_PLACE = "the place of a maximum jumps; only the maximum itself can be read"


@dataclass(frozen=True)
class Unreadable:
    """A result of a readable operator that is not piecewise linear itself, like the place of a maximum."""

    site: Site
    reason: str

    def refuse(self) -> None:
        """Stop: something needs it."""
        self.site.refuse(self.reason)

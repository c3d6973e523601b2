"""polyfold check: a saved result, proved again. Its question is asked again, and the answers are compared."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from polyfold._base.clock import Clock, running
from polyfold._base.evidence import Evidence
from polyfold._base.result import SCHEMA, Result, Verdict, answered, restored
from polyfold.cli.exits import Exit
from polyfold.cli.options import AsJson, MaxSeconds, ShowProgress, Threads, network_named, shown
from polyfold.cli.output import COMMON, document, facts_grid, show, standard_output
from polyfold.domain.domain import Domain
from polyfold.engine.proof.certify import certify
from polyfold.engine.source import as_program
from polyfold.engine.unfold import as_atlas
from polyfold.errors import PolyfoldError, StorageError

_EXITS = {"yes": Exit.DONE, "no": Exit.NO, "unknown": Exit.LIMIT}
_STYLES = {"yes": "bold green", "no": "bold red", "unknown": "bold yellow"}
# What is said about a result, not by it.
_ABOUT = {"schema", "kind", *COMMON}
# From weak to strong; a proof of its own has no level.
_LEVELS = ("counted", "checked", "certified")
# So many differences are listed.
_LISTED = 10


@dataclass(frozen=True)
class Difference:
    """A place at which the two answers differ."""

    where: str
    saved: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.where} was {self.saved!r}, and is {self.now!r}"


@dataclass(frozen=True, eq=False, repr=False)
class Check(Verdict):
    """Whether a saved answer is the one that its question has. The evidence is that of the new answer."""

    question: str
    differences: tuple[Difference, ...]

    words = ("the same", "not the same", "unknown")

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        if self.differences:
            return "no"
        return "yes" if self.complete else "unknown"

    def __repr__(self) -> str:
        return f"Check: the answer to {self.question} is {self.word}; {self.evidence}"


def check(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A file with what to_json() of a result gave.")],
    model: Annotated[
        str | None, typer.Argument(help="The model that it is about: a file, or the name of a bundled network.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="How much each number may differ.")] = 0.0,
    max_seconds: MaxSeconds = None,
    threads: Threads = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    if not 0 <= tolerance < inf:
        raise PolyfoldError(f"--tolerance {tolerance:g} must be a number, 0 or larger")
    saved = _Saved.read(result)
    with Clock(max_seconds, shown(progress)):
        found = _checked(saved, model, tolerance, threads)
    facts = document(found, {"result": str(result), "model": model})
    show(facts, as_json, lambda: standard_output().print(_panel(found)))
    raise typer.Exit(_EXITS[found.verdict])


def _panel(found: Check) -> Table:
    grid = facts_grid(
        {
            "the answer is": Text(found.word.upper(), _STYLES[found.verdict]),
            "question": found.question,
            "evidence": str(found.evidence),
            "stopped by": found.stopped_by,
            "seconds": found.seconds,
        }
    )
    for each in found.differences[:_LISTED]:
        grid.add_row("difference", Text(str(each)))
    if len(found.differences) > _LISTED:
        grid.add_row("", f"and {len(found.differences) - _LISTED:,} more: --json has all")
    return grid


# -- what was saved


@dataclass(frozen=True, eq=False)
class _Saved:
    """A saved result: its JSON, what was asked, and of what."""

    path: Path
    said: Mapping[str, Any]
    question: str
    options: Mapping[str, Any]
    evidence: Mapping[str, Any]

    @staticmethod
    def read(path: Path) -> _Saved:
        """What the file holds; whatever keeps it from being asked again is an error."""
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise StorageError(f"{str(path)!r} cannot be read as JSON: {reason}") from None
        name = f"{str(path)!r}"
        if not isinstance(said, dict) or said.get("schema") != SCHEMA:
            schema = said.get("schema") if isinstance(said, dict) else None
            raise StorageError(f"{name} is no result of the form {SCHEMA!r}: its schema is {schema!r}")
        asked, evidence = said.get("asked"), said.get("evidence")
        if not isinstance(asked, dict) or not isinstance(evidence, dict):
            raise StorageError(
                f"{name} holds {_a(said.get('kind'))} that does not say what was asked: save the to_json() of what a "
                "question of polyfold returned, as it was returned"
            )
        question, options, left_out = asked.get("question"), asked.get("options"), asked.get("left_out", [])
        if not (isinstance(question, str) and isinstance(options, dict) and isinstance(left_out, list)):
            raise StorageError(f"{name} does not say what was asked in a way that can be read: {asked!r:.200}")
        lost = [*left_out, *(key for key, value in options.items() if isinstance(value, dict) and key != "domain")]
        if lost:
            raise StorageError(
                f"{name} cannot be asked again: JSON could not hold what {question} was given as "
                f"{', '.join(map(str, lost))}; ask it in Python"
            )
        if evidence.get("level") is None and evidence.get("proof") is None:
            raise StorageError(
                f"{name} has no evidence of its own: what {question} gives cannot be proved again as one"
            )
        if said.get("complete") is not True:
            raise StorageError(
                f"{name} is incomplete (stopped by {said.get('stopped_by')}): there is no whole answer to prove again"
            )
        return _Saved(path, said, question, restored(options), evidence)

    def domain(self) -> Domain | None:
        """Where the question was asked."""
        told = self.evidence.get("domain") or self.options.get("domain")
        try:
            return None if told is None else Domain.from_json(restored(told))
        except (PolyfoldError, KeyError, TypeError, ValueError) as error:
            raise StorageError(f"{str(self.path)!r} holds no domain that can be read: {error!r}") from None


def _question(saved: _Saved) -> Callable[..., Result]:
    """The question by its public name."""
    found: Any = sys.modules[__name__.partition(".")[0]]
    for name in saved.question.split("."):
        # A file that somebody sent must not reach anything but what polyfold shows.
        found = getattr(found, name) if name in getattr(found, "__all__", ()) else None
    if getattr(found, "question", None) is None:
        raise StorageError(
            f"{str(saved.path)!r} asks {saved.question!r:.100}, which is no question that polyfold knows"
        )
    unknown = set(saved.options) - set(signature(found).parameters)
    if unknown:
        raise StorageError(
            f"{saved.question} has no option {', '.join(sorted(unknown))}, which {str(saved.path)!r} has"
        )
    asked: Callable[..., Result] = found
    return asked


def _a(kind: Any) -> str:
    return f"{'an' if str(kind)[:1] in 'AEIOU' else 'a'} {kind}"


# -- ask again, and compare


def _checked(saved: _Saved, model: str | None, tolerance: float, threads: int | None) -> Check:
    ask = _question(saved)
    parameters = signature(ask).parameters
    more = {"threads": threads} if threads is not None and "threads" in parameters else {}
    options = {name: value for name, value in saved.options.items() if name != "domain"} | more
    if "source" not in parameters:
        if model is not None:
            raise PolyfoldError(f"{saved.question} is about data, not about a model: leave out {model}")
        return _compared(saved, ask(**options), tolerance)
    if model is None:
        raise PolyfoldError(f"{saved.question} is about a model: polyfold check {saved.path} MODEL")
    network, domain = network_named(model), saved.domain()
    program = as_program(network)
    other = [
        Difference(f"evidence.{name}", saved.evidence.get(name), now)
        for name, now in (
            ("network_digest", program.digest),
            ("domain_digest", None if domain is None else domain.digest),
        )
        if saved.evidence.get(name) != now and now is not None
    ]
    if other:
        # An answer about another function says nothing about this one.
        return answered(Check(saved.question, tuple(other)), seconds=running().seconds)
    if saved.evidence.get("level") not in _LEVELS:
        where = {"domain": domain} if "domain" in parameters else {}
        return _compared(saved, ask(network, **where, **options), tolerance)
    atlas = as_atlas(network, domain, threads=threads)
    if atlas.complete and saved.evidence["level"] == "certified":
        left = running().left
        proof = certify(atlas, max_seconds=None if left == inf else left, threads=threads)
        atlas = atlas.with_certificate(proof)
    if running().over or not atlas.complete:
        stopped = atlas.certificate.stopped_by or running().stopped_by
        return answered(Check(saved.question, ()), stopped_by=stopped, seconds=running().seconds)
    return _compared(saved, ask(atlas, **options), tolerance)


def _compared(saved: _Saved, again: Result, tolerance: float) -> Check:
    now = again.to_json()
    before, after = ({name: said[name] for name in said if name not in _ABOUT} for said in (saved.said, now))
    differences = [*_weaker(saved.evidence, again.evidence), *_differences("", before, after, tolerance)]
    if saved.said.get("kind") != now["kind"]:
        differences.insert(0, Difference("kind", saved.said.get("kind"), now["kind"]))
    if not again.complete:
        differences = []
    made = Check(saved.question, tuple(differences))
    return answered(made, again.evidence, stopped_by=again.stopped_by, seconds=running().seconds)


def _weaker(saved: Mapping[str, Any], now: Evidence) -> Iterator[Difference]:
    """Where the saved answer claims more than can be found out again."""
    if saved.get("proved") and not now.proved:
        yield Difference("evidence.proved", True, False)
    level = saved.get("level")
    if level in _LEVELS and now.level in _LEVELS and _LEVELS.index(level) > _LEVELS.index(now.level):
        yield Difference("evidence.level", level, now.level)


def _differences(where: str, saved: Any, now: Any, tolerance: float) -> Iterator[Difference]:
    """All places at which two JSON values differ."""
    if isinstance(saved, Mapping) and isinstance(now, Mapping):
        for name in dict.fromkeys([*saved, *now]):
            inner = f"{where}.{name}" if where else str(name)
            yield from _differences(inner, saved.get(name), now.get(name), tolerance)
    elif isinstance(saved, list) and isinstance(now, list):
        if len(saved) != len(now):
            yield Difference(f"the number of {where}", len(saved), len(now))
            return
        for k, pair in enumerate(zip(saved, now, strict=True)):
            yield from _differences(f"{where}[{k}]", *pair, tolerance)
    elif not _same(saved, now, tolerance):
        yield Difference(where, saved, now)


def _same(saved: Any, now: Any, tolerance: float) -> bool:
    numbers = (int, float)
    if isinstance(saved, bool) or isinstance(now, bool) or not isinstance(saved, numbers):
        return type(saved) is type(now) and bool(saved == now)
    return isinstance(now, numbers) and abs(saved - now) <= tolerance

"""polyfold truncate: what each layer does to data in the network's own input space, as a film strip and a table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from polyfold._base.extras import require
from polyfold._base.files import atomically
from polyfold.cli.csv_rows import read_labels, read_points
from polyfold.cli.options import AsJson, Model, Until, check_folder, make_folder, network_named
from polyfold.cli.output import complain, document, say, show, standard_output, write_json
from polyfold.layers.build import truncation
from polyfold.layers.film_frames import Film, film
from polyfold.layers.interpret import Interpretation
from polyfold.layers.result import Truncation
from polyfold.plotting.film_strip import draw

_PICTURE, _TABLE, _FACTS, _STATES = "film_strip.png", "table.csv", "table.json", "states.csv"


def truncate(
    model: Model,
    data: Annotated[Path, typer.Option(help="A CSV file with a line of numbers for every input.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="A CSV file with one label per line (default: the classes that the network says)."),
    ] = None,
    lift: Annotated[
        bool, typer.Option("--lift", help="Embed the inputs in as many dimensions as the first layer has gates.")
    ] = False,
    exact: Annotated[bool, typer.Option("--exact", help="Compute states in rationals, which takes longer.")] = False,
    picture: Annotated[bool, typer.Option(help="Draw the film strip, which needs matplotlib.")] = True,
    out: Annotated[Path, typer.Option(help="A folder for the film strip and the tables.")] = Path("truncation"),
    until: Until = None,
    as_json: AsJson = False,
) -> None:
    check_folder(out)
    if picture:
        require("matplotlib", extra="plot", purpose="a film strip (--no-picture leaves it out)")
    network = network_named(model, until)
    points = read_points(data, network.input_dim)
    given = None if labels is None else read_labels(labels, len(points.rows))
    found = truncation(network, lift=lift)
    seen = found.interpret(points.rows, given, exact=exact)
    _say_what_floats_lose(seen)
    given_files = {"model": model, "data": str(data), "labels": None if labels is None else str(labels)}
    facts = document(found, given_files, _facts(found, seen))
    strip = film(found, seen)
    written = _write(out, found, seen, strip, facts, picture)
    facts["files"] = [str(path) for path in written]
    show(facts, as_json, lambda: _print(found, seen, written))


def _facts(found: Truncation, seen: Interpretation) -> dict[str, Any]:
    residuals = seen.residuals
    return {
        "dim": found.dim,
        "lifted": found.lifted,
        "holds": found.holds,
        "exact": seen.exact,
        "classes": list(seen.classes),
        "layers": [
            {
                "layer": k + 1,
                "name": name,
                "gates": tau.gates,
                "rank": tau.rank,
                "surjective": found.surjective[k],
                "proposition_proved": residuals.proved[k],
                "residual": float(residuals.largest[k]),
                "largest_value": float(residuals.scale[k]),
                "cone_score": float(seen.layer_score[k]),
                "gates_decided": seen.decided[k],
                "condition": tau.condition if isfinite(tau.condition) else None,
                "floats_suffice": seen.floats_suffice[k],
                "base": tau.base.tolist(),
            }
            for k, (name, tau) in enumerate(zip(found.names, found.maps, strict=True))
        ],
        "output_residual": float(residuals.largest[-1]),
        "table": seen.table(),
    }


# -- to files


def _write(
    folder: Path, found: Truncation, seen: Interpretation, strip: Film, facts: dict[str, Any], picture: bool
) -> list[Path]:
    make_folder(folder)
    with ExitStack() as whole:
        tables = {
            _TABLE: _lines(seen.table()),
            _STATES: _state_lines(found, seen),
        }
        for name, lines in tables.items():
            temporary = whole.enter_context(atomically(folder / name))
            with temporary.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(lines)
        write_json(facts, whole.enter_context(atomically(folder / _FACTS)))
        if picture:
            draw(strip, seen, folder / _PICTURE)
    return [folder / name for name in (*((_PICTURE,) if picture else ()), _TABLE, _STATES, _FACTS)]


def _lines(rows: list[dict[str, Any]]) -> Iterator[list[Any]]:
    yield list(rows[0]) if rows else []
    yield from (list(row.values()) for row in rows)


def _state_lines(found: Truncation, seen: Interpretation) -> Iterator[list[Any]]:
    """All states: a line for each point and frame."""
    yield ["point", "class", "truncations", *(f"x{k}" for k in range(found.dim))]
    for frame, state in enumerate(seen.states):
        for i, row in enumerate(state):
            yield [i, seen.classes[seen.labels[i]], frame, *(repr(float(number)) for number in row)]


# -- for people


def _say_what_floats_lose(seen: Interpretation) -> None:
    if not all(seen.floats_suffice):
        name = seen.names[seen.floats_suffice.index(False)]
        complain(
            "note",
            f"the weights up to {name!r} are so nearly singular that floats do not know its states: --exact computes "
            "them in rationals",
        )


def _print(found: Truncation, seen: Interpretation, written: list[Path]) -> None:
    say(repr(found))
    for k, name in enumerate(seen.names):
        proved = "proved" if seen.residuals.proved[k] else f"off by up to {seen.residuals.largest[k]:.3g}"
        heading = f"{name}: cone score {seen.layer_score[k]:.3f}; states say what it computes: {proved}"
        table = Table(box=None, pad_edge=False)
        table.add_column("class")
        for column in ("points", "kept", "collapsed", "spread before", "after", "cone score"):
            table.add_column(column, justify="right", no_wrap=True)
        for j, label in enumerate(seen.classes):
            table.add_row(
                Text(str(label)),
                str(seen.members[j]),
                f"{seen.kept[k, j]:.0%}",
                "to a point" if seen.at_a_point[k, j] else f"{seen.collapsed[k, j]:.0%}",
                f"{seen.spread[k, j]:.4g}",
                f"{seen.spread[k + 1, j]:.4g}",
                f"{seen.score[k, j]:.3f}",
            )
        say("", heading)
        standard_output().print(table)
    say("", f"written to {written[0].parent}: {', '.join(path.name for path in written)}")

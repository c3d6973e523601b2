"""polyfold explain: what each feature adds to what a network says about each row of a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
import typer
from rich.table import Table

from polyfold._base.files import atomically
from polyfold._base.types import Array
from polyfold.atlas.atlas import Atlas
from polyfold.cli.csv_rows import Points, read_points
from polyfold.cli.options import (
    AsJson,
    BoxBounds,
    BoxFile,
    MaxCells,
    MaxSeconds,
    Model,
    ShowProgress,
    Threads,
    Until,
    check_file,
    domain_of,
    is_bundled,
    network_named,
    shown,
)
from polyfold.cli.output import document, end_if_incomplete, say, show, standard_output, write_json
from polyfold.datasets import bundled, read
from polyfold.engine.unfold import unfold
from polyfold.errors import DomainError, PolyfoldError, ShapeError, how_many
from polyfold.explain.shapley.explain import shapley
from polyfold.explain.shapley.result import Attribution, LocalShapley, Scope, Shapley
from polyfold.network.graph import Network
from polyfold.network.ops.op import size

_UNIFORM = "uniform"
_LOCAL = ("cell", "region")
# So many rows and features are shown to people, and as many outputs as fit beside a name; files and JSON have all.
_ROWS, _FEATURES, _NAME, _NUMBER = 20, 12, 24, 14


def explain(
    model: Model,
    data: Annotated[Path, typer.Option(help="A CSV file with a line of numbers for every input to explain.")],
    background: Annotated[
        str | None,
        typer.Option(help="A CSV file with the points to compare with, or 'uniform' (default: the data itself)."),
    ] = None,
    scope: Annotated[str, typer.Option(help=f"What is explained: {', '.join(get_args(Scope))}.")] = "interventional",
    empty: Annotated[
        str, typer.Option(help="Where no other background point lies in an input's cell: error, all or uniform.")
    ] = "error",
    estimate: Annotated[
        int | None, typer.Option(help="Estimate, by so many random orders, what is too much to add up.")
    ] = None,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    max_seconds: MaxSeconds = None,
    max_cells: MaxCells = None,
    threads: Threads = None,
    out: Annotated[Path | None, typer.Option(help="A file for all of it, .csv or .json.")] = None,
    until: Until = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    if scope not in get_args(Scope):
        raise PolyfoldError(f"--scope must be {', '.join(get_args(Scope)[:-1])} or {get_args(Scope)[-1]}, got {scope}")
    if estimate is not None and scope in _LOCAL:
        raise PolyfoldError(f"--scope {scope} is exact: --estimate is for scopes baseline and interventional")
    if empty != "error" and scope not in _LOCAL:
        raise PolyfoldError(f"--scope {scope} takes all of the background: --empty is for scopes cell and region")
    if out is not None:
        check_file(out, (".csv", ".json"))
    domain = domain_of(box, box_file)
    if domain is not None and scope not in _LOCAL:
        raise DomainError(f"--scope {scope} looks at the whole network: --box and --box-file are for cell and region")
    unfolds = domain is not None or scope == "region" or (scope == "cell" and _UNIFORM in (background, empty))
    if not unfolds and (max_seconds is not None or max_cells is not None):
        raise PolyfoldError(
            f"--max-seconds and --max-cells limit the unfolding, and --scope {scope} unfolds nothing here: "
            "leave them out"
        )
    network = network_named(model, until)
    points = read_points(data, network.input_dim)
    against = _background(background, scope, points, network.input_dim)
    names = _input_names(model, network, points, against)
    subject: Network | Atlas = network
    if unfolds:
        subject = unfold(
            network,
            domain,
            progress=shown(progress),
            max_seconds=max_seconds,
            max_cells=max_cells,
            threads=threads,
        )
        end_if_incomplete(subject.certificate.stopped_by, len(subject))
    found = shapley(
        subject,
        points.rows,
        background=against.rows if isinstance(against, Points) else against,
        scope=scope,  # type: ignore[arg-type]  # looked up above
        empty=empty,
        estimate=estimate,
        feature_names=names,
        progress=shown(progress),
    )
    outputs = _output_names(model, network)
    facts = document(found, {"model": model, "data": str(data)}, _facts(found, outputs))
    if out is not None:
        _write(out, found, outputs, facts)

    def for_people() -> None:
        if out is not None:
            say(f"written to {out}: {found!r}")
        else:
            _print(found, outputs)

    show(facts, as_json, for_people)


def _background(given: str | None, scope: str, points: Points, width: int) -> Points | str:
    if given is None and scope == "baseline":
        raise PolyfoldError("--scope baseline compares with one input: give it as --background FILE with one line")
    if given is None:
        return points
    if given == _UNIFORM:
        if scope not in _LOCAL:
            raise PolyfoldError(f"--background uniform is for scopes cell and region; scope {scope} needs a file")
        return _UNIFORM
    found = read_points(Path(given), width)
    if points.names is not None and found.names is not None and points.names != found.names:
        raise ShapeError(
            f"{str(points.path)!r} has the columns {', '.join(points.names)}, and {given!r} has "
            f"{', '.join(found.names)}: they must be the same, in the same order"
        )
    return found


def _input_names(model: str, network: Network, points: Points, against: Points | str) -> tuple[str, ...]:
    """Names from the files, of the bundled network, or numbers."""
    if points.names is not None:
        return points.names
    if isinstance(against, Points) and against.names is not None:
        return against.names
    if _has_names(model):
        return read(model).inputs
    return tuple(f"x{k}" for k in range(network.input_dim))


def _output_names(model: str, network: Network) -> tuple[str, ...]:
    if _has_names(model):
        return read(model).outputs
    sizes = [(name, size(network.shapes[name])) for name in network.outputs]
    return tuple(name if count == 1 else f"{name}[{k}]" for name, count in sizes for k in range(count))


def _has_names(model: str) -> bool:
    return is_bundled(model) and model in bundled()


def _facts(found: Attribution, outputs: tuple[str, ...]) -> dict[str, Any]:
    local = found.local if isinstance(found, LocalShapley) else None
    estimate = found.estimate if isinstance(found, Shapley) else None
    rows = []
    for i in range(len(found)):
        row: dict[str, Any] = {
            "row": i,
            "x": found.X[i].tolist(),
            "base_values": found.base_values[i].tolist(),
            "values": found.values[i].tolist(),
            "outputs": found.outputs[i].tolist(),
        }
        if local is not None:
            row["cell"] = int(local.cells[i])
            row["region"] = None if local.regions is None else int(local.regions[i])
            row["means"] = local.means[i].tolist()
            row["background_points"] = int(local.points[i])
            row["continued_beyond_the_cell"] = bool(local.continued[i])
            row["on_wall"] = bool(local.on_wall[i])
        if estimate is not None:
            row["errors"] = estimate.error[i].tolist()
        rows.append(row)
    return {
        "values": "SHAP" if local is None else f"of the affine model of each {found.scope}, not SHAP",
        "scope": found.scope,
        "background": found.background,
        "exact": found.exact,
        "confidence": None if estimate is None else estimate.confidence,
        "features": list(found.feature_names),
        "outputs": list(outputs),
        "of": found.of,
        "function": found.function,
        "largest_gap": float(found.efficiency_error.max(initial=0.0)),
        "rows": rows,
    }


# -- to a file


def _write(path: Path, found: Attribution, outputs: tuple[str, ...], facts: dict[str, Any]) -> None:
    with atomically(path) as temporary:
        if path.suffix.lower() == ".json":
            write_json(facts, temporary)
            return
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            cells = found.cells if isinstance(found, LocalShapley) else None
            place = [] if cells is None else ["cell"]
            writer.writerow(["row", "output", *place, "base_value", *found.feature_names, "output_value"])
            for i in range(len(found)):
                where = [] if cells is None else [int(cells[i])]
                for k, name in enumerate(outputs):
                    numbers = [found.base_values[i, k], *found.values[i, :, k], found.outputs[i, k]]
                    writer.writerow([i, name, *where, *(repr(float(number)) for number in numbers)])


# -- for people


def _print(found: Attribution, outputs: tuple[str, ...]) -> None:
    console = standard_output()
    say(repr(found))
    for i in range(min(len(found), _ROWS)):
        say("")
        console.print(_table(found, outputs, i, max(1, (console.width - _NAME - _NUMBER) // _NUMBER)))
    if len(found) > _ROWS:
        say("", f"and {how_many(len(found) - _ROWS, 'row')} more: --json or --out FILE has all")


def _table(found: Attribution, outputs: tuple[str, ...], i: int, most: int) -> Table:
    """One input: the base value, what every feature adds, and the sum, for so many outputs at most."""
    shown = range(min(len(outputs), most))
    title = f"row {i}"
    if isinstance(found, LocalShapley):
        local = found.local
        title += f", cell {local.cells[i]}" + ("" if local.regions is None else f", region {local.regions[i]}")
        title += " (on a wall)" if local.on_wall[i] else ""
        title += " (its model continued beyond it)" if local.continued[i] else ""
    if len(outputs) > most:
        title += f"; {how_many(len(outputs) - most, 'output')} more in --json and --out"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("")
    table.add_column("value", justify="right", no_wrap=True)
    for k in shown:
        table.add_column(outputs[k], justify="right", no_wrap=True)
    values: Array = found.values[i]
    order = np.argsort(-np.abs(values).max(axis=1), kind="stable")
    largest, rest = np.sort(order[:_FEATURES]), order[_FEATURES:]

    def line(name: str, value: str, numbers: Array, style: str | None = None) -> None:
        table.add_row(name, value, *(f"{numbers[k] + 0.0:.6g}" for k in shown), style=style)

    line("base value", "", found.base_values[i])
    for j in largest:
        line(found.feature_names[j], f"{found.X[i, j]:.6g}", values[j])
    if len(rest):
        line(how_many(len(rest), "other feature"), "", values[rest].sum(axis=0))
    line("sum = output", "", found.outputs[i], "bold")
    return table

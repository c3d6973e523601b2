"""polyfold report: one page about a network, written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from polyfold._base.clock import Clock
from polyfold._base.types import Array
from polyfold.cli.csv_rows import read_labelled
from polyfold.cli.options import (
    AsJson,
    BoxBounds,
    BoxFile,
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
from polyfold.cli.output import document, end_if_a_check_failed, say, show
from polyfold.datasets import bundled, iris_test, read
from polyfold.datasets.blobs import blobs_data
from polyfold.datasets.convolutional import mnist_conv_facts
from polyfold.datasets.digits import mnist_he_facts, mnist_l1_facts
from polyfold.domain.domain import Domain, DomainLike, resolve_domain
from polyfold.errors import DomainError
from polyfold.network.graph import Network
from polyfold.reporting.report import MAX_CELLS, report_on
from polyfold.reporting.subject import Subject, subject

# Somebody who waits for a page does not want to wait for everything that could be asked.
_SECONDS = 120.0
_DIGITS = {"mnist_conv": mnist_conv_facts, "mnist_he": mnist_he_facts, "mnist_l1": mnist_l1_facts}


def report(
    model: Model,
    out: Annotated[Path, typer.Option(help="The .html file to write.")] = Path("report.html"),
    data: Annotated[
        Path | None,
        typer.Option(help="A CSV file with a line of numbers for every input, and maybe its label behind them."),
    ] = None,
    output_names: Annotated[
        str | None, typer.Option(help="Names of the outputs or classes, separated by commas, in order.")
    ] = None,
    box: BoxBounds = None,
    box_file: BoxFile = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Look at all inputs, not at a box around the data.")
    ] = False,
    max_cells: Annotated[int, typer.Option(help="List at most so many cells.")] = MAX_CELLS,
    max_seconds: Annotated[
        float, typer.Option(help="Leave out what does not fit into about so many seconds.")
    ] = _SECONDS,
    threads: Threads = None,
    until: Until = None,
    progress: ShowProgress = None,
    as_json: AsJson = False,
) -> None:
    check_file(out, (".html", ".htm"))
    domain: DomainLike = domain_of(box, box_file)
    if everywhere and domain is not None:
        raise DomainError("--everywhere means all inputs: leave out --box and --box-file, or leave it out")
    network = network_named(model, until)
    if everywhere:
        domain = resolve_domain(None, network.input_dim)
    about = _subject(model, network, domain, data, output_names)
    with Clock(max_seconds, shown(progress)):
        found = report_on(about, out=out, max_cells=max_cells, threads=threads)

    def for_people() -> None:
        left_out = len(found.found.left_out)
        more = "" if not left_out else f"; what was left out, and why, is in it ({left_out})"
        say(f"report written to {out}{more}: open it in a browser")

    show(document(found, {"model": model, "out": str(out)}), as_json, for_people)
    if found.found.atlas is not None:
        end_if_a_check_failed(found.found.atlas.certificate)


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known about a bundled network: sentences on where it comes from, names, and data."""

    origin: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    X: Array | None = None
    labels: tuple[str, ...] | None = None
    data_origin: str = ""
    image_shape: tuple[int, ...] | None = None


def _subject(
    model: str, network: Network, domain: Domain | DomainLike, data: Path | None, output_names: str | None
) -> Subject:
    known = _known(model, network)
    X, labels, features, data_origin = known.X, known.labels, known.features, known.data_origin
    if data is not None:
        found = read_labelled(data, network.input_dim)
        X, labels, features = found.points.rows, found.labels, found.points.names or features
        data_origin = f"were read from {data.name}"
    names = known.classes if output_names is None else tuple(name.strip() for name in output_names.split(","))
    return subject(
        network,
        X,
        labels,
        domain,
        name=model if is_bundled(model) else Path(model).name,
        origin=known.origin,
        data_origin=data_origin,
        feature_names=features,
        output_names=names,
        image_shape=known.image_shape,
    )


def _known(model: str, network: Network) -> _Known:
    if not is_bundled(model):
        ending = Path(model).suffix.lower().removeprefix(".")
        return _Known((f"The network was read from the file {Path(model).name} ({ending or network.source}).",))
    origin: tuple[str, ...]
    if model in bundled():
        facts = read(model)
        petals, species = iris_test()
        origin = (
            "This network comes with polyfold. It tells three species of iris apart by the length and width of a "
            "flower's petals.",
            f"It was trained on 90 of Fisher's 150 flowers; of those it knows {facts.facts['train_accuracy']:.1%}, "
            f"and {facts.facts['test_accuracy']:.1%} of the 60 that were kept apart.",
        )
        said = "are flowers that the network has not seen in training"
        return _Known(origin, facts.inputs, facts.outputs, petals, species, said)
    if model in _DIGITS:
        accuracy = _DIGITS[model]()["test_accuracy"]
        origin = (
            "This network comes with polyfold. It reads handwritten digits, pictures of 28 × 28 pixels between 0 "
            f"and 1, and knows {accuracy:.1%} of the 10,000 test pictures of the MNIST collection.",
        )
        pixels = tuple(f"pixel ({row}, {column})" for row in range(28) for column in range(28))
        return _Known(origin, pixels, tuple(map(str, range(10))), image_shape=(28, 28))
    X, labels = blobs_data()
    origin = (
        "This network comes with polyfold. It tells three clusters of points in the plane apart, and gets all of "
        "them right.",
    )
    return _Known(
        origin, None, ("0", "1", "2"), X, tuple(map(str, labels.tolist())), "are those that it was trained with"
    )

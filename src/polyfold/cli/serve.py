"""polyfold serve: the explorer, a web page over the cells of networks."""

from __future__ import annotations

import webbrowser
from typing import Annotated, Any

import typer

from polyfold._base.extras import require
from polyfold.cli.output import say
from polyfold.datasets.named import BUNDLED
from polyfold.errors import LimitError

_SHORTEST_TOKEN = 8


def serve(
    model: Annotated[
        str | None,
        typer.Argument(
            help=f"An .onnx or .pt2 file, a saved atlas (.parquet), a recording (.recording), or the name of a bundled "
            f"network ({', '.join(BUNDLED)})."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; anywhere but on this machine a token is asked for.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for one that is free.")] = 8377,
    token: Annotated[
        str | None, typer.Option(help="What has to be shown (default: made up, if one is needed).")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    max_seconds: Annotated[float, typer.Option(help="Seconds that one job may take.")] = 60.0,
    max_cells: Annotated[int, typer.Option(help="Cells that one job may find.")] = 200_000,
    max_memory: Annotated[float, typer.Option(help="Gigabytes that one job may use.")] = 2.0,
    max_upload: Annotated[float, typer.Option(help="Megabytes that an uploaded file may have.")] = 20.0,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Jobs that run at a time.")] = 2,
) -> None:
    for package in ("starlette", "uvicorn", "python_multipart"):
        require(package, extra="app", purpose="polyfold serve")
    from polyfold.explorer.limits import Limits
    from polyfold.explorer.server import serve as run

    for name, value in (("--max-seconds", max_seconds), ("--max-cells", max_cells), ("--max-memory", max_memory)):
        if value <= 0:
            raise LimitError(f"{name} {value:g} leaves nothing to work with: give a positive number")
    if max_upload <= 0:
        raise LimitError(f"--max-upload {max_upload:g} leaves no room for a file: give a positive number")
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise LimitError(f"--token has {len(token)} characters, which can be guessed: give {_SHORTEST_TOKEN} or more")
    limits = Limits(
        upload=int(max_upload * 1e6),
        seconds=max_seconds,
        cells=max_cells,
        memory=int(max_memory * 1e9),
        workers=workers,
    )

    def announce(address: str, state: Any) -> None:
        say(f"the explorer is at {address}; Ctrl-C ends it")
        if browser:
            webbrowser.open(address)

    run(model, host, port, token, limits, announce)

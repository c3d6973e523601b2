"""The program that all commands belong to: its table of contents, and what is said of errors."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from polyfold._base.clock import OutOfTimeError
from polyfold.cli.exits import Exit
from polyfold.cli.output import complain, notes_on_standard_error
from polyfold.cli.table import COMMANDS, Command
from polyfold.cli.usage import UsageError, said_of
from polyfold.errors import PolyfoldError

_EXIT_CODES = "Exit codes: " + "; ".join(f"{code.value}: {code.meaning}" for code in Exit) + "."


class _Later(TyperCommand):
    """A line of the table. Its module is imported when it is called."""

    def __init__(self, command: Command) -> None:
        super().__init__(command.name, help=command.does, rich_help_panel=command.part)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """The context of the command itself, in which it then runs."""
        assert self.name is not None
        alone = typer.Typer(add_completion=False)
        alone.command(self.name, help=self.help)(getattr(import_module(f"polyfold.cli.{self.name}"), self.name))
        return typer.main.get_command(alone).make_context(*args, **options)


class _TableOfContents(TyperGroup):
    """The commands in the order of the table."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [command.name for command in COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return next((_Later(command) for command in COMMANDS if command.name == cmd_name), None)


app = typer.Typer(cls=_TableOfContents, add_completion=False, no_args_is_help=True, epilog=_EXIT_CODES)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"polyfold {version('polyfold')}")
        raise typer.Exit


def _print_core(wanted: bool) -> None:
    if wanted:
        from polyfold._core.processor import about

        print(about())
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
    show_core: Annotated[
        bool,
        typer.Option("--core", callback=_print_core, is_eager=True, help="Print which compiled core runs, and stop."),
    ] = False,
) -> None:
    """Unfold a ReLU network into its linear pieces, exactly."""


def run(arguments: Sequence[str]) -> int:
    """Run a command. Our errors are one line on standard error, and so are our faults."""
    try:
        with notes_on_standard_error():
            # Typer would show usage errors in a box of several lines.
            code = app(list(arguments), prog_name="polyfold", standalone_mode=False) or Exit.DONE
    except UsageError as error:
        said = said_of(error, arguments)
        if said is not None:
            complain("error", said)
        return Exit.BAD_INPUT
    except OutOfTimeError as error:
        complain("incomplete", _line(error))
        return Exit.LIMIT
    except PolyfoldError as error:
        complain("error", _line(error))
        return Exit.BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        code = Exit.INTERRUPTED
    except Exception as error:
        # Whoever asks whether networks are equal must not take a fault of ours for "different".
        complain("a fault of polyfold's, please report it", f"{type(error).__name__}: {_line(error)}")
        return Exit.OUR_FAULT
    if code == Exit.INTERRUPTED:  # Typer may have caught it
        complain("interrupted", "nothing was finished that could be kept")
    return int(code)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())

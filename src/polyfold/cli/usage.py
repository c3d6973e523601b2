"""What is wrong with a command line, in one line: an option that nobody knows, an argument that is missing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import typer

from polyfold.cli.table import COMMANDS

# Typer has a copy of click in it, or takes the one that is installed: this is the class of usage errors in either.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def said_of(error: Any, arguments: Sequence[str]) -> str | None:
    """What was typed, what is wrong with it, and what to do; None if help was shown already."""
    message = " ".join(error.format_message().split()).rstrip(".")
    if not message:
        return None
    typed = shlex.join(["polyfold", *arguments])
    return f"{typed}: {message[0].lower()}{message[1:]}; see {_command(error, arguments)} --help"


def _command(error: Any, arguments: Sequence[str]) -> str:
    """The command that the error is about: one about an option without its value does not tell."""
    if error.ctx is not None:
        return str(error.ctx.command_path)
    known = arguments and any(command.name == arguments[0] for command in COMMANDS)
    return f"polyfold {arguments[0]}" if known else "polyfold"

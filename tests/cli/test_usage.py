"""Usage errors of all commands: one line that quotes what was typed and says what to do, exit code 2, no traceback."""

from __future__ import annotations

import pytest

from polyfold.cli.table import COMMANDS as TABLE

COMMANDS = sorted(command.name for command in TABLE)
# What a command needs before an option of it is looked at.
NEEDED = {
    "check": ["there.json", "iris"],
    "equivalent": ["iris", "iris"],
    "movie": ["there.npz", "--out", "film.gif"],
    "resume": ["there"],
    "serve": [],
    "explain": ["iris", "--data", "there.csv"],
    "truncate": ["iris", "--data", "there.csv"],
}
# An option that takes a number, of each command.
NUMBERS = {
    "check": "--tolerance",
    "count": "--threads",
    "equivalent": "--tolerance",
    "explain": "--max-seconds",
    "info": "--max-seconds",
    "movie": "--frames",
    "reduce": "--max-seconds",
    "report": "--max-seconds",
    "resume": "--threads",
    "serve": "--port",
    "truncate": None,
    "unfold": "--max-cells",
}


def one_line(done: tuple[int, str, str], *quoted: str) -> str:
    code, out, err = done
    assert (code, out) == (2, ""), err
    assert err.startswith("error: polyfold") and err.count("\n") == 1 and "╭" not in err
    assert all(text in err for text in quoted), err
    return err


@pytest.mark.parametrize("command", COMMANDS)
def test_options_that_nobody_knows(run, command):
    needed = NEEDED.get(command, ["iris"])
    line = one_line(run(command, *needed, "--boks", "1"), f"polyfold {command}", "no such option: --boks")
    assert line.endswith(f"see polyfold {command} --help\n")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "serve"])
def test_arguments_that_are_missing(run, command):
    one_line(run(command), f"error: polyfold {command}: missing", f"see polyfold {command} --help")


@pytest.mark.parametrize("command", COMMANDS)
def test_arguments_too_many(run, command):
    needed = NEEDED.get(command, ["iris"])
    one_line(run(command, *needed, "more", "and more"), "and more", f"see polyfold {command} --help")


@pytest.mark.parametrize("command", [name for name in COMMANDS if NUMBERS[name]])
def test_words_in_place_of_numbers(run, command):
    needed, option = NEEDED.get(command, ["iris"]), NUMBERS[command]
    one_line(run(command, *needed, option, "many"), f"{option} many", f"invalid value for '{option}'")
    one_line(run(command, *needed, option), f"option '{option}' requires an argument", f"see polyfold {command} --help")


def test_markup_in_what_was_typed(run):
    one_line(run("count", "iris", "--[red]"), "--[red]")


def test_commands_that_nobody_knows(run):
    one_line(run("cuont", "iris"), "polyfold cuont iris", "no such command 'cuont'", "see polyfold --help")
    one_line(run("--versoin"), "--versoin", "see polyfold --help")


def test_nothing_at_all_is_answered_with_help(run):
    _, out, err = run()
    assert "Usage" in out + err and "Traceback" not in err

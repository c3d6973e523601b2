"""How quickly the command starts, what its help shows, and one table of exit codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from polyfold.cli.exits import Exit
from polyfold.cli.table import COMMANDS

ROOT = Path(__file__).parents[2]
# CPU-seconds, of which a bare Python takes some hundredths; the machine may be busy.
ALLOWED, RUNS = 0.2, 5
# Options that docs/command-line.md has in its table only, not command by command.
OF_MOST_COMMANDS = {"--until", "--progress"}
HEAVY = ("numpy", "scipy", "flint", "highspy", "polyfold.engine", "polyfold.network")


def seconds(*arguments: str) -> float:
    least = float("inf")
    for _ in range(RUNS):
        before = os.times()
        subprocess.run([sys.executable, "-m", "polyfold", *arguments], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        spent = after.children_user - before.children_user + after.children_system - before.children_system
        least = min(least, spent)
    return least


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--version", "--help"])
def test_it_starts_at_once(option: str) -> None:
    spent = seconds(option)
    assert spent <= ALLOWED, f"{spent:.2f} CPU-seconds, {ALLOWED} are allowed; a machine that is very busy adds to them"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_nothing_heavy_is_loaded(option: str) -> None:
    code = (
        f"import sys; sys.argv = ['polyfold', {option!r}]\nfrom polyfold.cli.main import main\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(done.stderr.split())


def test_help_is_a_table_of_contents(run) -> None:
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    places = [out.index(part) for part in dict.fromkeys(command.part for command in COMMANDS)]
    assert places == sorted(places) and len(places) == 5
    assert all(re.search(rf"│ {command.name} ", out) for command in COMMANDS)
    assert all(f"{code.value}: {code.meaning.split()[0]}" in out for code in Exit)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_of_every_command(run, command) -> None:
    code, out, err = run(command.name, "--help")
    assert (code, err) == (0, "")
    assert command.does.split(":")[0] in " ".join(out.split()) and f"polyfold {command.name}" in out
    assert callable(getattr(import_module(f"polyfold.cli.{command.name}"), command.name))


def test_options_have_the_names_of_the_api() -> None:
    """One name each, and never one that the API calls otherwise."""
    import typer

    for command in COMMANDS:
        app = typer.Typer()
        app.command()(getattr(import_module(f"polyfold.cli.{command.name}"), command.name))
        for parameter in typer.main.get_command(app).params:
            assert len(parameter.opts) == 1
            assert not {"--seconds", "--memory", "--class-names", "--verbose"} & set(parameter.opts)
            # The API's `cells` says of what kind they are; how many of them is `max_cells`.
            assert "--cells" not in parameter.opts or parameter.metavar == "gates|function"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_options_are_documented(command) -> None:
    import typer

    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    usage = re.findall(rf"^\$ polyfold {command.name} .*(?:\n  .*)*", text, re.MULTILINE)[0]
    app = typer.Typer(add_completion=False)
    app.command()(getattr(import_module(f"polyfold.cli.{command.name}"), command.name))
    options = [{*one.opts, *one.secondary_opts} for one in typer.main.get_command(app).params]
    written = set(re.findall(r"--[\w-]+", usage)) | OF_MOST_COMMANDS
    missing = [sorted(forms) for forms in options if min(forms).startswith("--") and not forms & written]
    assert not missing, f"docs/command-line.md does not have these of polyfold {command.name}: {missing}"


def test_exit_codes_are_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE) == [
        (str(code.value), code.meaning) for code in Exit
    ]


def test_a_fault_of_ours(run, monkeypatch) -> None:
    def broken(*given: object) -> None:
        raise ZeroDivisionError("a\nbug")

    monkeypatch.setattr("polyfold.cli.count.network_named", broken)
    code, out, err = run("count", "iris")
    assert (code, out, err) == (70, "", "a fault of polyfold's, please report it: ZeroDivisionError: a bug\n")


def test_ctrl_c_is_no_fault(run, monkeypatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("polyfold.cli.count.network_named", interrupted)
    code, out, err = run("count", "iris")
    assert (code, out) == (130, "") and err.strip() == "interrupted: nothing was finished that could be kept"

"""What tests of all commands share."""

from __future__ import annotations

import sys

import pytest

from polyfold.cli import main as cli


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs `polyfold ARGUMENTS` in this process: the exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["polyfold", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return call

"""All commands: in which part of the table of contents they stand, and what they do, in one line.

The command NAME is the function `NAME` of the module `polyfold.cli.NAME`, which is imported when the command is called.
"""

from __future__ import annotations

from dataclasses import dataclass

CELLS = "From a model to its cells"
ASKED_MOST = "The questions asked most"
OTHER_QUESTIONS = "All other questions"
PICTURES = "Pictures and pages"
CHECKING = "Checking"


@dataclass(frozen=True)
class Command:
    """One line of the table."""

    name: str
    part: str
    does: str


COMMANDS = (
    Command("info", CELLS, "Say what a network is, how many cells it can have, and what finding them would take."),
    Command("count", CELLS, "Count the cells of a network, without keeping them."),
    Command("unfold", CELLS, "Find every cell of a network, on all of its input space or in a box."),
    Command("resume", CELLS, "Go on with an unfold that a limit or Ctrl-C has stopped."),
    Command("equivalent", ASKED_MOST, "Decide whether two networks are the same function."),
    Command("reduce", ASKED_MOST, "Leave out the neurons that the function does not need, with proof."),
    Command("explain", OTHER_QUESTIONS, "Say what each feature adds to the outputs, row by row, so that it adds up."),
    Command("truncate", OTHER_QUESTIONS, "Show what each layer does to data in input space, and what collapses."),
    Command("report", PICTURES, "Write one page about a network: counts with proofs, formulas, data and pictures."),
    Command("movie", PICTURES, "Show how cells and decision boundary move while a network is trained."),
    Command("serve", PICTURES, "Look at networks in a browser: cells, maps, boundaries, training."),
    Command("check", CHECKING, "Prove a saved result again: ask its question again and compare the answers."),
)

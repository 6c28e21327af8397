"""A process that ends at each stage of a release, with nothing tidied up: for one method, in a child for each stage.

Run as a program: the database file, the folder of the example of the page, and the method's name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlanon
from sqlanon.methods import registry
from sqlanon.release.pipeline import run
from tests.support.methods import CALLS, SETUP, with_example

__all__ = ["ENDED", "REACHED", "STAGES"]

ENDED = 9
STAGES = [name for name, _ in run.RELEASE.stages]
REACHED = "reached"


def _ending(stage: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A stage that ends the process when it is done."""

    def ends(state: Any) -> Any:
        stage(state)
        os.write(1, f"{REACHED}\n".encode())
        os._exit(ENDED)

    return ends


def _child(path: str, name: str, last: int) -> None:
    each = enumerate(run.RELEASE.stages)
    stages = [(label, _ending(stage) if number == last else stage) for number, (label, stage) in each]
    run.RELEASE = run.Order(tuple(stages))  # type: ignore[misc]
    policy, call = CALLS[name]
    with sqlanon.connect(path, config={"threads": 1}) as con:
        con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")


def main(path: str, folder: str, name: str) -> None:
    """Makes the database, and has one child after the other end at the next stage."""
    registry.METHODS = with_example(Path(folder))
    for last in range(-1, len(STAGES)):
        if not (child := os.fork()):
            if last < 0:
                with sqlanon.connect(path) as con:
                    con.execute(SETUP)
                os._exit(0)
            _child(path, name, last)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == (ENDED if last >= 0 else 0)
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

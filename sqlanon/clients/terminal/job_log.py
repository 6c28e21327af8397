"""The log of jobs: a JSON object a line, of what was done and how it ended, without rows; errors may name a value."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.report_file import new_for_its_owner
from sqlanon.errors import SqlanonError, UserError


@dataclass(frozen=True)
class JobLog:
    """Appends lines to a file, and prints them where they are wanted as JSON.

    Only its owner may read a new file. Raises UserError for one that cannot be written.
    """

    path: Path | None = None
    printed: bool = False

    def write(self, job: str, event: str, **about: Any) -> None:
        """One line: the moment (UTC), the job, what happened, and what there is to say of it."""
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": moment, "job": job, "event": event, **about}, ensure_ascii=False, default=str)
        if self.printed:
            print(line, file=sys.stdout, flush=True)
        if self.path is not None:
            try:
                with open(self.path, "a", encoding="utf-8", opener=new_for_its_owner) as file:
                    file.write(f"{line}\n")
            except OSError as error:
                raise UserError(f"the log {self.path} cannot be written: {error.strerror}") from None


@dataclass
class LoggedOutput(Output):
    """Output whose errors and warnings are in a log, too."""

    log: JobLog = JobLog()
    job: str = ""

    def error(self, error: SqlanonError, script: str | None = None) -> None:
        """Prints the error, and writes it into the log."""
        about = {"message": error.message, "hint": error.hint, "position": error.position and str(error.position)}
        self.log.write(self.job, "error", kind=type(error).__name__, **about)
        if not self.json:
            super().error(error, script)

    def warning(self, text: str, position: Any = None, script: str | None = None, kind: str = "warning") -> None:
        """Prints the warning, and writes it into the log."""
        self.log.write(self.job, kind, message=text, position=position and str(position))
        super().warning(text, position, script, kind)

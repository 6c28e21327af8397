"""The interactive shell, which also reads statements from a pipe.

A statement ends with a semicolon. An error does not end the shell. Ctrl-C drops the typed text, and Ctrl-D leaves the
shell.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from prompt_toolkit.history import FileHistory

from sqlanon.assess.measure_figures import figure_names
from sqlanon.clients.terminal.command_arguments import read_script
from sqlanon.clients.terminal.completion import (
    MODELS,
    RELATED,
    STATEMENTS,
    StatementCompleter,
    attack_described,
    attacks_described,
    database_names,
    figure_described,
    figures_described,
    method_described,
    methods_described,
    model_described,
    models_described,
)
from sqlanon.clients.terminal.presentation.output import MODES, Output
from sqlanon.clients.terminal.scripts import ScriptRun
from sqlanon.clients.terminal.signals import stop_of
from sqlanon.domain.identifiers import nearest
from sqlanon.errors import UserError, without_passwords
from sqlanon.methods.registry import METHODS
from sqlanon.sql.questions.statistics import attack_names
from sqlanon.statements.registry import keywords
from sqlanon.syntax.script import is_complete

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession


# The history of the shell: statements, except any that may contain a secret.


# Words of statements and connection strings next to which DuckDB and its extensions expect a secret.
_SECRET = re.compile(
    r"secret|passw|passphrase|pwd|token|credential|authorization|bearer|signature|\bsig=|connection_?string"
    r"|encryption|parquet_key|(?:access|account|api|private)_?key|\bset\s+variable\b",
    re.IGNORECASE,
)


def may_hold_secret(text: str) -> bool:
    """Whether a statement has a word that is used with secrets, or a URL that may contain a password or a token.

    The name of an environment variable, as in `SIGN KEY 'RELEASE_KEY'`, is not secret.
    """
    return _SECRET.search(text) is not None or without_passwords(text) != text


class StatementHistory(FileHistory):
    """The history file. A statement that may contain a secret is not written to it, and not offered again."""

    def append_string(self, string: str) -> None:
        """Stores a statement, unless it may contain a secret."""
        if not may_hold_secret(string):
            super().append_string(string)


def history_file() -> Path | None:
    """Returns the history file below XDG_STATE_HOME, readable only by its owner; None if it cannot be created."""
    state = os.environ.get("XDG_STATE_HOME", "")
    try:
        base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
        path = base / "sqlanon" / "history"
        path.parent.mkdir(parents=True, exist_ok=True)
        # Typed statements may contain data, so only the owner may read the file.
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except (OSError, RuntimeError):
        return None
    return path


_PROMPT, _CONTINUED = "sqlanon> ", "    ...> "
# The catalog's own tables, views and macros are in the schema anon.
_TABLES = """
    SELECT table_schema AS "schema", table_name AS "name", lower(table_type) AS kind
    FROM information_schema.tables
    WHERE table_schema NOT IN ('anon', 'information_schema') ORDER BY ALL ASC NULLS LAST
"""
_SCHEMA = """
    SELECT sql FROM (
        SELECT schema_name, table_name AS "name", sql FROM system.main.duckdb_tables() WHERE NOT internal
        UNION ALL
        SELECT schema_name, view_name, sql FROM system.main.duckdb_views() WHERE NOT internal
    ) AS relations
    WHERE schema_name <> 'anon' AND ($1 = '' OR lower("name") = lower($1))
    ORDER BY schema_name ASC NULLS LAST, "name" ASC NULLS LAST
"""
_HELP = """\
A statement ends with ;  and may span lines. Ctrl-C drops what was typed, Ctrl-D leaves.
  .help [STATEMENT]   this text, or the form of a statement, such as .help create policy
  .help methods       the arguments of each method; .help models, figures, attacks: of each of these
  .help mondrian      those of one of them, such as k_anonymity, p_loss or homogeneity
  .tables             the tables and views; SHOW RELEASES; says which are releases
  .schema [TABLE]     the statements that make them
  .read FILE          runs a script
  .mode [MODE]        how results are printed: table, markdown or json
  .quit               leaves
Statements of sqlanon; everything else is DuckDB's SQL:
"""
# The names with a help text, and the functions that return the text.
_NAMES: tuple[tuple[Collection[str], Callable[[str], str]], ...] = (
    (METHODS, method_described),
    (MODELS, model_described),
    (figure_names(), figure_described),
    (attack_names(), attack_described),
)
# Functions that return the help on all methods, models, figures or attacks, by the word after .help.
_LISTS: dict[str, Callable[[], str]] = {
    "METHOD": methods_described,
    "METHODS": methods_described,
    "MODELS": models_described,
    "FIGURES": figures_described,
    "ATTACKS": attacks_described,
}
# Words that newcomers type, with or without a semicolon, and the commands that they mean.
_WORDS = {"help": ".help", "quit": ".quit", "exit": ".quit", "quit()": ".quit", "exit()": ".quit", "\\q": ".quit"}
_COMMANDS = (".help", ".tables", ".schema", ".read", ".mode", ".quit")


class Shell:
    """Runs the typed statements and commands on one connection."""

    def __init__(self, connection: Any, output: Output, script: str = "input") -> None:
        self._connection = connection
        self._output = output
        self._script = script
        self._run = ScriptRun(connection, output)

    @property
    def exit_code(self) -> int:
        """Returns the exit code of the first error or failed CHECK, or 0 if there was neither."""
        return self._run.exit_code

    def submit(self, text: str) -> bool:
        """Runs a dot command or statements and prints errors; returns False if the user wants to leave."""
        stripped = _command_of(text)
        if not stripped.startswith("."):
            self._run.run(text, self._script)
            return True
        try:
            return self._command(stripped)
        except UserError as error:
            self._output.error(error)
            return True

    def _command(self, text: str) -> bool:
        word, _, rest = text.rstrip(";").partition(" ")
        match word.lower():
            case ".quit" | ".exit" | ".q":
                return False
            case ".help" | ".h":
                self._help(rest.strip())
            case ".tables" | ".t":
                self._run.run(_TABLES, word)
            case ".schema":
                self._schema(rest.strip())
            case ".read":
                text, name = reversed(read_script(_unquoted(rest)))
                self._run.run(text, name)
            case ".mode":
                self._mode(rest.strip().lower())
            case _:
                near = nearest(word.lower(), _COMMANDS)
                raise UserError(f"there is no command {word}", hint=near or f"there are {', '.join(_COMMANDS)}")
        return True

    def _schema(self, table: str) -> None:
        statements = self._connection.execute(_SCHEMA, [_unquoted(table)]).fetchall()
        if table and not statements:
            raise UserError(f"there is no table or view {table}", hint=".tables lists them")
        for (statement,) in statements:
            self._output.text(statement)

    def _mode(self, mode: str) -> None:
        if mode and mode not in MODES:
            raise UserError(f"there is no mode {mode}", hint=nearest(mode, MODES) or f"there are {', '.join(MODES)}")
        if mode:
            self._output.set_mode(mode)
        else:
            self._output.text(f"the mode is {self._output.mode}; there are {', '.join(MODES)}")

    def _help(self, about: str) -> None:
        words = " ".join(about.upper().split())
        if listed := _LISTS.get(words.partition(" ")[0]):
            self._output.out.print(listed(), soft_wrap=True)
            return
        related = RELATED.get(words, ())
        named = [name for name in STATEMENTS if words and (words in name or name in words or name in related)]
        forms = [STATEMENTS[name] for name in named]
        forms += [described(words.lower()) for names, described in _NAMES if words.lower() in names]
        if words and not forms:
            raise UserError(
                f"there is no help on {about!r}",
                hint=f"there is on: {', '.join(STATEMENTS)}, methods, models, figures, attacks",
            )
        text = "\n\n".join(forms) if forms else _HELP + "\n".join(f"  {name}" for name in STATEMENTS)
        self._output.out.print(text, soft_wrap=True)


def _command_of(text: str) -> str:
    """Returns the dot command that a word like help or quit means, or else the text itself."""
    stripped = text.strip()
    word, _, rest = stripped.rstrip(";").strip().partition(" ")
    command = _WORDS.get(word.lower(), stripped)
    return f"{command} {rest}".strip() if command != stripped and (not rest or command == ".help") else stripped


def _unquoted(text: str) -> str:
    stripped = text.strip().rstrip(";").strip()
    return stripped[1:-1] if len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "'\"" else stripped


def read_piped(shell: Shell, stream: TextIO) -> int:
    """Feeds statements from a pipe to the shell, each as soon as it is complete; returns the exit code.

    Messages count lines from the beginning of the input.
    """
    pending, began = "", 1
    for number, line in enumerate(stream, start=1):
        if not pending.strip():
            pending, began = "", number
        pending += line
        command = _command_of(pending).startswith(".")
        if command or (pending.rstrip().endswith(";") and is_complete(pending)):
            text, pending = pending, ""
            # Empty lines in front keep the line numbers of the whole input.
            if not shell.submit(text.strip() if command else "\n" * (began - 1) + text):
                return shell.exit_code
    if pending.strip():
        shell.submit("\n" * (began - 1) + pending)
    return shell.exit_code


def interact(shell: Shell, connection: Any) -> int:
    """Runs the typed text on the terminal until the user leaves; returns the exit code, 0."""
    session = _session(lambda: database_names(connection))
    while True:
        try:
            text = session.prompt(_PROMPT)
            if text.strip() and not shell.submit(text):
                return 0
        except KeyboardInterrupt as error:
            if (stop := stop_of(error)) and stop.ends:
                raise
            # Ctrl-C drops the input while the user types, and stops a statement that runs.
            continue
        except EOFError:
            return 0


def _session(names: Callable[[], list[str]]) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @Condition
    def finished() -> bool:
        text = get_app().current_buffer.document.text
        return _command_of(text).startswith(".") or is_complete(text)

    @keys.add("enter", filter=finished)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return PromptSession(
        # Without a file, statements are remembered until the shell ends.
        history=StatementHistory(str(history_file() or os.devnull)),
        auto_suggest=AutoSuggestFromHistory(),
        completer=StatementCompleter(keywords(), names),
        complete_while_typing=False,
        multiline=True,
        prompt_continuation=_CONTINUED,
        key_bindings=keys,
    )


def run_shell(connection: Any, output: Output) -> int:
    """Runs the shell on a terminal, or the statements of a pipe; returns the exit code."""
    if sys.stdin.isatty():
        output.status("sqlanon shell: help for help, quit to leave")
        return interact(Shell(connection, output), connection)
    return read_piped(Shell(connection, output, script="<stdin>"), sys.stdin)

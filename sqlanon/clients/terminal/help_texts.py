"""Shows the help of commands and options, completes them, and reports wrong calls.

It imports only modules that help and completion need.
"""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# The suffixes of data files.
_DATA = (".csv", ".tsv", ".txt", ".parquet", ".json", ".jsonl", ".ndjson", ".xlsx", ".csv.gz", ".csv.zst")
# The names of these commands in other tools.
_MEANT = {
    "anonymise": "anonymize",
    "anon": "anonymize",
    "deidentify": "anonymize",
    "describe": "profile",
    "analyze": "profile",
    "check": "verify",
    "exec": "run",
    "execute": "run",
    "repl": "shell",
    "console": "shell",
}

# Names that other tools use for the options of anonymize.
_OPTIONS = {
    **dict.fromkeys("--quasi --qi --qid --qis --quasi-identifiers --quasi_identifiers --keys".split(), "--known"),
    **dict.fromkeys("--sensitive --sa --sensitive-attributes --confidential".split(), "--secret"),
}

# A length above the first sentence of any command's help.
_WHOLE = 500


def examples(*commands: str) -> str:
    """Returns the examples at the end of a help text: one unbroken line for each command, to be copied."""
    # typer breaks no lines of a paragraph that begins with \b.
    return "\n\n".join(("Examples:", *(f"\b\n{command}" for command in commands)))


class Commands(TyperGroup):
    """A group of commands whose help shows flags and arguments without typer's types."""

    def main(self, args: Any = None, *others: Any, **options: Any) -> Any:
        """Runs a command and ends the process; with --json the error of a wrong call is JSON."""
        arguments = sys.argv[1:] if args is None else list(args)
        if "--json" not in arguments or not options.get("standalone_mode", True):
            return super().main(args, *others, **options)
        try:
            code = super().main(args, *others, **{**options, "standalone_mode": False})
        except _USAGE_ERROR as error:
            code = _report(error)
        except typer.Abort:
            code = 1
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first argument names. Fails, with a similar command, for an unknown name."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(_no_command(name, self.list_commands(ctx), ctx.command_path))
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> Any:
        """Returns the options of the group, including typer's own."""
        params = super().get_params(ctx)
        for param in params:
            _without_type(param)
            # To convert None to a flag, typer would import pydantic, which takes as long as the rest of the start.
            if getattr(param, "is_flag", False) and param.default is None:
                param.default = False
        return params

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Returns the command with this name; the command keeps the --help option that is made here."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            help_option = command.get_help_option(ctx)
            for param in (*command.params, help_option):
                _without_type(param)
            if ctx.resilient_parsing:
                # During completion nothing reads the values; typer would import pydantic to convert them.
                for param in (*command.params, help_option):
                    param.process_value = _unconverted
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list of commands with each one's whole first sentence, which typer would cut."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(_WHOLE)) for name, command in commands])


class OfColumns(TyperCommand):
    """A command with options for columns; for other tools' names of these options it suggests its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the options. The error for an unknown option names the option that was probably meant."""
        try:
            return super().parse_args(ctx, args)
        except _USAGE_ERROR as error:
            if meant := _OPTIONS.get(getattr(error, "option_name", "")):
                error.possibilities = [meant]
            raise


# The class of errors for wrong calls, whether click is its own distribution or a part of typer.
_USAGE_ERROR: Any = typer.BadParameter.__base__


def _no_command(name: str, commands: list[str], program: str) -> str:
    """Returns the message for an unknown command: a suggestion and the list of commands."""
    from difflib import get_close_matches
    from os.path import exists

    path = name.partition(".duckdb:")[0] if ".duckdb:" in name else name
    listed = f"The commands are {', '.join(commands)}."
    is_data = path.lower().endswith(_DATA) or (exists(path) and not path.lower().endswith((".sql", ".duckdb")))
    if is_data and "profile" in commands:
        return (
            f"{name} is a file of data, and no command. {program} profile {name} says what is in it; "
            f"{program} anonymize {name} publishes it. {listed}"
        )
    if path.lower().endswith((".sql", ".duckdb")) and "run" in commands:
        meant = f"run {name}" if path.lower().endswith(".sql") else f"shell {name}"
        return f"{name} is a file, and no command. Did you mean {program} {meant}? {listed}"
    near = get_close_matches(name.lower().replace("_", "-"), {*commands, *_MEANT}, n=1, cutoff=0.6)
    command = _MEANT.get(near[0], near[0]) if near else None
    meant = f" Did you mean {program} {command}?" if command in commands else ""
    return f"There is no command {name}.{meant} {listed}"


def _report(error: Any) -> int:
    """Prints the error of a wrong call as a JSON object on standard error, and returns the exit code."""
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.errors import UserError

    command = error.ctx.command_path if error.ctx else "sqlanon"
    Output(json=True).error(UserError(error.format_message(), hint=f"{command} -h shows its arguments"), command)
    return UserError.exit_code


def _unconverted(ctx: Any, value: Any) -> Any:
    return value


def _without_type(param: Any) -> None:
    if getattr(param, "is_flag", False) and param.metavar is None:
        param.metavar = ""
    elif param.param_type_name == "argument":
        # Only the argument's name is shown; its type would be shown as in Python, list[str].
        param.display_type_rich = _no_type


def _no_type(ctx: Any) -> None:
    return None

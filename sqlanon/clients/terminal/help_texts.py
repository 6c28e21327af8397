"""How the command line shows its commands and options, completes them, and answers to a call that it cannot read.

Nothing is imported that neither help nor completion needs.
"""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

# More letters than the first sentence of any command's help has.
_WHOLE = 500


def examples(*commands: str) -> str:
    """Returns the end of a help text: one line for each command, however long, so that it can be copied."""
    # typer breaks no lines of a paragraph that begins with \b.
    return "\n\n".join(("Examples:", *(f"\b\n{command}" for command in commands)))


class Commands(TyperGroup):
    """Commands whose flags and arguments are shown as they are typed, without the types that typer puts behind them."""

    def main(self, args: Any = None, *others: Any, **options: Any) -> Any:
        """Runs a command, and ends the process; with --json a call that is wrong is an error in JSON, too."""
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

    def get_params(self, ctx: Any) -> Any:
        """The options of the group, with those that typer adds."""
        params = super().get_params(ctx)
        for param in params:
            _without_type(param)
            # typer imports pydantic to read None as a flag, which takes as long as all else.
            if getattr(param, "is_flag", False) and param.default is None:
                param.default = False
        return params

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name. Its option --help is made here, once, and kept by it."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            help_option = command.get_help_option(ctx)
            for param in (*command.params, help_option):
                _without_type(param)
            if ctx.resilient_parsing:
                # While a shell completes, nothing reads the values; typer would import pydantic to convert them.
                for param in (*command.params, help_option):
                    param.process_value = _unconverted
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands with the whole first sentence of each, which typer cuts off."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(_WHOLE)) for name, command in commands])


# The error of a call that cannot be read, whether click is a distribution of its own or a part of typer's.
_USAGE_ERROR: Any = typer.BadParameter.__base__


def _report(error: Any) -> int:
    """Prints what is wrong with a call as a JSON object on standard error, and returns the exit code."""
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.errors import UserError

    command = error.ctx.command_path if error.ctx else "sqlanon"
    Output(json=True).error(UserError(error.format_message(), hint=f"{command} -h shows what it takes"), command)
    return UserError.exit_code


def _unconverted(ctx: Any, value: Any) -> Any:
    return value


def _without_type(param: Any) -> None:
    if getattr(param, "is_flag", False) and param.metavar is None:
        param.metavar = ""
    elif param.param_type_name == "argument":
        # The name of an argument says what it is; its type would be shown as in Python, list[str].
        param.display_type_rich = _no_type


def _no_type(ctx: Any) -> None:
    return None

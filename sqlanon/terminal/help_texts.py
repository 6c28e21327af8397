"""How the command line shows its options: flags, --help among them, without a type of values that they do not take."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

__all__ = ["Commands"]


class Commands(TyperGroup):
    """Commands whose flags are shown as they are typed: those that typer adds itself would have a type behind them."""

    def get_params(self, ctx: Any) -> Any:
        """The options of the group, with those that typer adds."""
        params = super().get_params(ctx)
        for param in params:
            _without_type(param)
        return params

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name. Its option --help is made here, once, and kept by it."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _without_type(command.get_help_option(ctx))
        return command


def _without_type(option: Any) -> None:
    if getattr(option, "is_flag", False) and option.metavar is None:
        option.metavar = ""

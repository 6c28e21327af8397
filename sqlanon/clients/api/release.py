"""Releases of a policy as objects, which write the statements that make them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from sqlanon.clients.api.arguments import (
    Defined,
    Name,
    column_names,
    described,
    one_name,
    qualified_name,
    statement_text,
)
from sqlanon.clients.api.method import Method
from sqlanon.clients.api.policy import Policy, exclusive
from sqlanon.domain.requests import MethodCall
from sqlanon.errors import UserError
from sqlanon.statements.releases.create_release import CreateRelease

Sets = Iterable[Iterable[str]]


class _Release(Defined[CreateRelease]):
    """The attributes that snapshots and live views share."""

    def _define(
        self,
        kind: Literal["table", "view"],
        name: Name,
        policy: Policy | str,
        method: Method | None,
        *,
        fragments: Sets = (),
        columns: Sets | Literal["each"] = (),
        levels_from: Name | None = None,
        series: str | None = None,
        choose_method: bool = False,
    ) -> None:
        if not isinstance(method, Method | None):
            raise UserError(f"method is {described(method)}", hint="write method=sqlanon.Mondrian(), or leave it out")
        if choose_method and (method or fragments or columns or levels_from is not None or series is not None):
            raise UserError(
                "choose_method compares methods, so the method cannot be given",
                hint="leave out method, fragments, columns, levels_from and series, or choose_method",
            )
        call = method.definition if method else MethodCall()
        each = columns == "each"
        self._definition = CreateRelease(
            kind,
            qualified_name("name", name),
            policy.name if isinstance(policy, Policy) else one_name("policy", policy),
            MethodCall(
                call.name,
                call.arguments,
                tuple(column_names("fragments", columns) for columns in fragments),
                () if each else tuple(column_names("columns", listed) for listed in columns),
                each,
            ),
            series=None if series is None else one_name("series", series),
            levels_from=None if levels_from is None else qualified_name("levels_from", levels_from),
            choose_method=choose_method,
        )
        statement_text(self._definition)

    def sql(self, *, or_replace: bool = False, if_not_exists: bool = False) -> str:
        """Returns the statement CREATE [OR REPLACE] ANONYMIZED ... [IF NOT EXISTS], without a semicolon.

        `f"EXPLAIN {release.sql()}"` is a dry run. Raises UserError if both `or_replace` and `if_not_exists` are set.
        """
        exclusive(or_replace, if_not_exists)
        made = self._definition
        return statement_text(replace(made, or_replace=or_replace, if_not_exists=if_not_exists))

    def __repr__(self) -> str:
        """Returns the statement, which contains every argument."""
        return f"<{type(self).__name__}: {self.sql()}>"


class AnonymizedTable(_Release):
    """A snapshot of a policy, or its tables: CREATE ANONYMIZED TABLE as an object.

    - `policy`: the policy, or its name; the policy must exist when the statement runs.
    - `method`: such as `Mondrian()`; by default the method with the least loss, or the method of the replaced release
      if it was chosen by comparison. If `choose_method` is True, methods are compared each time.
    - `fragments`, `columns`: sets of columns, as after FRAGMENTS and COLUMNS; `columns="each"` is COLUMNS EACH.
    - `levels_from`: an earlier release whose levels are used again; `series`: the series of this release.

    Raises StatementError for arguments that the statement cannot express.

    >>> from sqlanon import Mondrian
    >>> print(AnonymizedTable("patients_2026", "patients", method=Mondrian(mode="relaxed")).sql(or_replace=True))
    CREATE OR REPLACE ANONYMIZED TABLE "patients_2026" AS POLICY "patients" METHOD mondrian(mode => 'relaxed')
    """

    def __init__(
        self,
        name: Name,
        policy: Policy | str,
        *,
        method: Method | None = None,
        fragments: Sets = (),
        columns: Sets | Literal["each"] = (),
        levels_from: Name | None = None,
        series: str | None = None,
        choose_method: bool = False,
    ) -> None:
        self._define(
            "table",
            name,
            policy,
            method,
            fragments=fragments,
            columns=columns,
            levels_from=levels_from,
            series=series,
            choose_method=choose_method,
        )


class AnonymizedView(_Release):
    """A live view of a policy, which stays anonymous while its source changes: CREATE ANONYMIZED VIEW as an object.

    `policy` is the policy or its name, and `levels_from` an earlier release whose levels are used again. `method` and
    `choose_method` are as in `AnonymizedTable`. Raises StatementError for arguments that the statement cannot express.

    >>> AnonymizedView("patients_now", "patients").sql()
    'CREATE ANONYMIZED VIEW "patients_now" AS POLICY "patients"'
    """

    def __init__(
        self,
        name: Name,
        policy: Policy | str,
        *,
        method: Method | None = None,
        levels_from: Name | None = None,
        choose_method: bool = False,
    ) -> None:
        self._define("view", name, policy, method, levels_from=levels_from, choose_method=choose_method)

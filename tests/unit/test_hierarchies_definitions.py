"""What a hierarchy's definition may not say, and what the error names."""

from __future__ import annotations

from decimal import Decimal

import pytest
from sqlglot import exp

from sqlanon import plugins
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.errors import InternalError, PolicyError, UserError
from sqlanon.sql.build.names import column
from sqlanon.sql.hierarchies.base import builder, functional, stored

HOSTILE = 'no "name"; DROP TABLE x --\N{SNOWMAN}'


def defined(kind: str, *arguments: Value, query: str | None = None, **options: Value) -> HierarchyDefinition:
    return HierarchyDefinition(HOSTILE, kind, arguments, tuple(options.items()), query)


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        (defined("intervals"), "at least one width"),
        (defined("intervals", 0), "width 0 is not above 0"),
        (defined("intervals", -5), "width -5 is not above 0"),
        (defined("intervals", 5, 12), "widths 5 and 12 do not nest"),
        (defined("intervals", 5, 5), "widths 5 and 5 do not nest"),
        (defined("intervals", 10, 5), "widths 10 and 5 do not nest"),
        (defined("intervals", Decimal("0.25"), Decimal("0.6")), "widths 0.25 and 0.6 do not nest"),
        (defined("intervals", 5, 10, 25), "widths 10 and 25 do not nest"),
        (defined("intervals", "5"), "width 5 is not a number"),
        (defined("intervals", True), "width True is not a number"),
        (defined("intervals", Decimal("NaN")), "width NaN is not a number"),
        (defined("intervals", QualifiedName(("wide",))), "width wide is not a number"),
        (defined("intervals", 10**16), "more than 15 digits"),
        (defined("intervals", Decimal("1e-16")), "more than 15 digits"),
        (defined("intervals", Decimal("0.000001"), 10**10), "more than 15 digits"),
        (defined("intervals", 5, low=10, high=10), "low 10 is not below high 10"),
        (defined("intervals", 5, low="ten"), "low ten is not a number"),
        (defined("intervals", 5, step=1), "no option step"),
        (HierarchyDefinition(HOSTILE, "intervals", (5,), (("low", 1), ("low", 2))), "option low is given twice"),
        (defined("intervals", 5, query="SELECT 1"), "reads no query"),
        (defined("prefixes"), "at least one length"),
        (defined("prefixes", 3, 4), "3 and 4 characters do not nest"),
        (defined("prefixes", 3, 3), "3 and 3 characters do not nest"),
        (defined("prefixes", 2, 0), "0 is not a length"),
        (defined("prefixes", Decimal("1.5")), "1.5 is not a length"),
        (defined("prefixes", True), "True is not a length"),
        (defined("prefixes", 3, low=1), "no option low"),
        (defined("prefixes", 3, query="SELECT 1"), "reads no query"),
        (defined("calendar"), "at least one unit"),
        (defined("calendar", "FORTNIGHT"), "FORTNIGHT is not a unit"),
        (defined("calendar", 3), "3 is not a unit"),
        (defined("calendar", "YEAR", "MONTH"), "YEAR and MONTH do not nest"),
        (defined("calendar", "MONTH", "MONTH"), "MONTH and MONTH do not nest"),
        (defined("calendar", "WEEK", "MONTH"), "WEEK and MONTH do not nest"),
        (defined("calendar", "WEEK", "WEEK"), "WEEK and WEEK do not nest"),
        (defined("calendar", "MONTH", "WEEK"), "MONTH and WEEK do not nest"),
        (defined("calendar", "MONTH", start=4), "no option start"),
        (defined("calendar", "MONTH", query="SELECT 1"), "reads no query"),
        (defined("calendar", "YEAR", low="1937-02-01"), "low 1937-02-01 begins no YEAR"),
        (defined("calendar", "CENTURY", low="9999-02-01"), "begins no CENTURY"),
        (defined("calendar", "WEEK", high="2026-11-29"), "high 2026-11-29 begins no WEEK"),
        (defined("calendar", "QUARTER", "YEAR", high="2026-02-01"), "begins no QUARTER"),
        (defined("calendar", "YEAR", low=1937), "low 1937 is not a date"),
        (defined("calendar", "YEAR", low="1937"), "low '1937' is not a date"),
        (defined("calendar", "YEAR", low="1937-01-01", high="1937-01-01"), "is not before high"),
        (defined("calendar", "YEAR", low="1937-01-01", below="1936"), "below '1936' could be the label of a value"),
        (defined("calendar", "YEAR", low="1937-01-01", below="193*"), "could be the label of a value"),
        (defined("calendar", "YEAR", low="1937-01-01", below="infinity"), "could be the label of a value"),
        (defined("calendar", "ends", low="1937-01-01", below="1936-05-06 10:00:00"), "could be the label of a value"),
        (defined("calendar", "ends", low="1937-01-01", below="0044-03-15 (BC)"), "could be the label of a value"),
        (defined("calendar", "ends", "YEAR"), "ends needs an open end"),
        (defined("calendar", "YEAR", "ends", low="1937-01-01"), "ends is not a unit"),
        (defined("calendar", "ends", "YEAR", "MONTH", low="1937-05-06"), "YEAR and MONTH do not nest"),
        (defined("calendar", "YEAR", below="old"), "below labels the values beyond low, which is not given"),
        (defined("intervals", "ENDS"), "the values between low and high"),
        (defined("intervals", 5, "ENDS", high=9), "width ENDS is not a number"),
        (defined("intervals", 5, high=9, above="12"), "above '12' could be the label of a value"),
        (defined("intervals", 5, high=9, above=" 1e5 "), "could be the label of a value"),
        (defined("intervals", 5, high=9, above="NaN"), "could be the label of a value"),
        (defined("intervals", 5, high=9, above="[9,12)"), "could be the label of a value"),
        (defined("intervals", 5, high=9, above="*"), "above '*' is not a label"),
        (defined("intervals", 5, high=9, above=" "), "is not a label"),
        (defined("intervals", 5, high=9, above=9), "above 9 is not a label"),
        (defined("intervals", 5, low=1, high=9, above="x", below="x"), "below and above are the same label"),
        (defined("intervals", 5, low=1, above="x"), "above labels the values beyond high"),
        (defined("levels"), "needs a query"),
        (defined("levels", query=" "), "needs a query"),
        (defined("levels", 3, query="SELECT 1"), "a query and nothing else"),
        (defined("parents"), "needs a query"),
        (defined("parents", query="SELECT 1", root="x"), "a query and nothing else"),
    ],
)
def test_a_definition_that_contradicts_itself_is_refused(definition: HierarchyDefinition, problem: str) -> None:
    with pytest.raises(PolicyError) as raised:
        builder(definition.kind).validate(definition)
    assert raised.value.message.startswith(f"hierarchy {HOSTILE}: ")
    assert problem in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("definition", "height"),
    [
        (defined("intervals", 5, 10, 20, 40), 5),
        (defined("intervals", "ends", high=90), 2),
        (defined("intervals", "ENDS", 5, 10, high=90, above="old"), 4),
        (defined("intervals", Decimal("0.25"), 1, low=Decimal("-0.5"), high=100), 3),
        (defined("prefixes", 4, 3, 2), 4),
        (defined("calendar", QualifiedName(("month",)), "Year", "DECADE"), 4),
        (defined("calendar", "ends", "YEAR", low="1937-05-06"), 3),
        (defined("calendar", QualifiedName(("ends",)), high="2026-11-29"), 2),
        (defined("calendar", "HOUR", "DAY", "WEEK"), 4),
        (defined("calendar", "HOUR", "DAY", "MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY"), 8),
    ],
)
def test_the_height_counts_the_top(definition: HierarchyDefinition, height: int) -> None:
    module = functional(definition.kind)
    module.validate(definition)
    assert module.height(definition) == height


NUMBERS = ["TINYINT", "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL(10,2)", "DECIMAL(38, 0)", "FLOAT", "DOUBLE"]
TEXTS = ["VARCHAR", "UUID", "ENUM('a', 'b)')", "INTEGER", "UHUGEINT"]
DAYS = ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"]
OTHERS = ["BOOLEAN", "BLOB", "INTEGER[]", "STRUCT(a INTEGER)", "TIME", "INTERVAL", "BIT", "BIGNUM", "DECIMAL(10,2)[]"]


@pytest.mark.parametrize(
    ("definition", "accepted"),
    [(defined("intervals", 5), NUMBERS), (defined("prefixes", 3), TEXTS), (defined("calendar", "YEAR"), DAYS)],
)
def test_only_types_that_fit_are_accepted(definition: HierarchyDefinition, accepted: list[str]) -> None:
    module = functional(definition.kind)
    for column_type in accepted:
        assert module.accepts(column_type), column_type
        assert len(module.labels(definition, column("v"), column_type)) == 1
    refused = [*OTHERS, "TIMESTAMP WITH TIME ZONE", *({*NUMBERS, *TEXTS, *DAYS} - {*accepted, "INTEGER", "TINYINT"})]
    for column_type in refused:
        if definition.kind == "prefixes" and column_type in ("HUGEINT", "UBIGINT"):
            continue
        assert not module.accepts(column_type), column_type
        with pytest.raises(PolicyError, match="takes no column of type") as raised:
            module.labels(definition, column("v"), column_type)
        assert raised.value.hint


def test_a_zoned_timestamp_is_refused_with_what_to_do() -> None:
    with pytest.raises(PolicyError) as raised:
        functional("calendar").labels(defined("calendar", "DAY"), column("v"), "TIMESTAMP WITH TIME ZONE")
    assert "AT TIME ZONE" in str(raised.value.hint)


def test_a_date_has_no_hour() -> None:
    with pytest.raises(PolicyError, match="a DATE has no HOUR"):
        functional("calendar").labels(defined("calendar", "HOUR", "DAY"), column("v"), "DATE")


def test_labels_are_refused_for_a_row_that_was_not_validated() -> None:
    for definition in (defined("intervals", 5, 7), defined("prefixes", 2, 3), defined("calendar", "YEAR", "DAY")):
        with pytest.raises(PolicyError, match="do not nest"):
            functional(definition.kind).labels(definition, column("v"), "INTEGER")


def test_labels_leave_the_value_alone() -> None:
    value: exp.Expression = exp.Add(this=column("a"), expression=column("b"))
    before = value.sql()
    functional("intervals").labels(defined("intervals", 5, 10), value, "DECIMAL(10,2)")
    functional("prefixes").labels(defined("prefixes", 2), value, "BIGINT")
    assert value.sql() == before
    assert value.parent is None


def test_the_kinds_are_the_files_of_the_package() -> None:
    assert plugins.names("sqlanon.sql.hierarchies") == (
        "calendar",
        "intervals",
        "levels",
        "parents",
        "prefixes",
        "rounding",
    )
    assert {kind: builder(kind).STORED for kind in plugins.names("sqlanon.sql.hierarchies")} == {
        "calendar": False,
        "intervals": False,
        "levels": True,
        "parents": True,
        "prefixes": False,
        "rounding": False,
    }


def test_an_unknown_kind_is_refused_with_the_kinds_there_are() -> None:
    for kind in ("quantiles", "base", "_trees", ""):
        with pytest.raises(UserError) as raised:
            builder(kind)
        assert "intervals" in str(raised.value.hint)


def test_a_kind_is_functional_or_stored() -> None:
    with pytest.raises(InternalError):
        functional("levels")
    with pytest.raises(InternalError):
        stored("intervals")

"""Reads queries that differ only in constants. What they have in common is a template, and parsed once.

A workload's queries name thousands of constants, and parsing each takes longer than answering the queries. So the
constants of `IN (...)` and `BETWEEN ... AND ...` are taken out of the text, and the rest is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.errors import UserError
from sqlanon.estimates.query.parse import AggregateQuery, parsed
from sqlanon.syntax.query_text import query_text

# Texts, and whole numbers that no comparison rounds.
_CONSTANT = r"(?:'(?:[^']|'')*'|-?[0-9]{1,18}(?![\w.]))"
# Names and other texts are matched, too, so that nothing inside them is taken for a list.
_TOKEN = re.compile(
    rf"""
    (?P<name>"(?:[^"]|"")*")
    | (?P<list>\bIN\s*\(\s*(?P<listed>{_CONSTANT}(?:\s*,\s*{_CONSTANT})*)\s*\))
    | (?P<range>\bBETWEEN\s+(?P<low>{_CONSTANT})\s+AND\s+(?P<high>{_CONSTANT}))
    | (?P<text>'(?:[^']|'')*')
    | (?P<other>--|/\*|\$|;)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CONSTANTS = re.compile(_CONSTANT)
# The constant that a template has where texts, or numbers, were taken out.
_LEFT = {True: exp.Literal.string(""), False: exp.Literal.number("0")}


@dataclass(frozen=True)
class Slot:
    """The constants of one comparison with `IN` or `BETWEEN`."""

    # The texts, or the whole numbers as they were written.
    values: tuple[str, ...]
    # Whether they are texts.
    text: bool
    # Whether they are the two of BETWEEN.
    between: bool


@dataclass(frozen=True)
class WorkloadQuery:
    """A query of a workload.

    Where it has slots, `query` is a template that several queries share.
    """

    number: int
    text: str
    query: AggregateQuery
    template: str = ""
    # The constants of each conjunct of the template's condition, in their order.
    slots: tuple[Slot, ...] = ()
    # The columns that the conjuncts compare, by their folded names.
    columns: tuple[str, ...] = ()

    def conditions(self) -> dict[str, Slot]:
        """The slot of each column that the template's condition compares, by its folded name."""
        return dict(zip(self.columns, self.slots, strict=True))

    def whole(self) -> AggregateQuery:
        """The query with its constants."""
        return parsed(self.text) if self.slots else self.query


class Templates:
    """Reads queries, and parses each template once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[AggregateQuery, tuple[str, ...]] | None] = {}
        self._texts: set[str] = set()
        self._taken: dict[str, tuple[str, tuple[Slot, ...]]] = {}

    def one_query(self, text: str) -> str:
        """The text of a single query, as `query_text` returns it. No constant leaves a quote or a bracket open."""
        # Only spaces can surround the query.
        text = text.strip()
        taken = _taken_out(text)
        if taken is None:
            return query_text(text)
        if taken[0] not in self._texts:
            query_text(taken[0])
            self._texts.add(taken[0])
        self._taken[text] = taken
        return text

    def query_of(self, number: int, text: str) -> WorkloadQuery:
        """The query with this text, which `one_query` returned. Raises what `parsed` raises."""
        if taken := self._taken.get(text) or _taken_out(text):
            template, slots = taken
            if template not in self._known:
                self._known[template] = _template(template, slots)
            if known := self._known[template]:
                query, columns = known
                return WorkloadQuery(number, text, query, template, slots, columns)
        return WorkloadQuery(number, text, parsed(text))


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that have to be true together."""
    if isinstance(tree, exp.And):
        yield from conjuncts(tree.left)
        yield from conjuncts(tree.right)
    elif isinstance(tree, exp.Paren):
        yield from conjuncts(tree.this)
    else:
        yield tree


def _taken_out(text: str) -> tuple[str, tuple[Slot, ...]] | None:
    """The text without its constants, and the slots; None for a text that only a parser can read."""
    slots: list[Slot] = []
    known = True

    def replaced(match: re.Match[str]) -> str:
        nonlocal known
        known = known and match["other"] is None
        between = match["range"] is not None
        if not between and match["list"] is None:
            return match[0]
        written = [match["low"], match["high"]] if between else _CONSTANTS.findall(match["listed"])
        texts = {constant.startswith("'") for constant in written}
        if len(texts) > 1:
            return match[0]
        (is_text,) = texts
        values = (constant[1:-1].replace("''", "'") if is_text else constant for constant in written)
        slots.append(Slot(tuple(dict.fromkeys(values)) if not between else tuple(values), is_text, between))
        left = "''" if is_text else "0"
        return f"BETWEEN {left} AND {left}" if between else f"IN ({left})"

    template = _TOKEN.sub(replaced, text)
    return (template, tuple(slots)) if known and slots else None


def _template(text: str, slots: tuple[Slot, ...]) -> tuple[AggregateQuery, tuple[str, ...]] | None:
    """The parsed template and the columns that its conjuncts compare.

    None unless each conjunct has one of the slots, and nothing else has one.
    """
    try:
        query = parsed(text)
    except UserError:
        return None
    if query.groups or query.lookups or query.having is not None or query.where is None:
        return None
    if any(
        aggregate.argument is not None and aggregate.argument.find(exp.In, exp.Between)
        for aggregate in query.aggregates
    ):
        return None
    parts = list(conjuncts(query.where))
    if len(parts) != len(slots) or not all(map(_has, parts, slots)):
        return None
    return query, tuple(fold(part.this.name) for part in parts)


def _has(part: exp.Expr, slot: Slot) -> bool:
    """Whether a conjunct compares a column with the constants that stand for a slot, and does nothing else."""
    if not isinstance(part.this, exp.Column):
        return False
    left = _LEFT[slot.text]
    if slot.between:
        return isinstance(part, exp.Between) and _only(part, {"this": None, "low": left, "high": left})
    return isinstance(part, exp.In) and part.expressions == [left] and _only(part, {"this": None, "expressions": None})


def _only(part: exp.Expr, expected: dict[str, exp.Expr | None]) -> bool:
    """Whether a node has exactly these parts, each equal to the expected one where that is not None."""
    present = {name: value for name, value in part.args.items() if value}
    return present.keys() == expected.keys() and all(
        value is None or present[name] == value for name, value in expected.items()
    )

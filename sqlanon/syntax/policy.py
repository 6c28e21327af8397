"""Reads policies, and the clauses that CHECK shares with them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, JoinedRelease, Pivot, Policy, RelatedTable, Requirement, Role, Sample
from sqlanon.domain.values import Source
from sqlanon.syntax import values
from sqlanon.syntax.attributes import attributes
from sqlanon.syntax.head import created, object_name, source
from sqlanon.syntax.lexer import Kind, Positions, Token, either, shortened
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.script import split
from sqlanon.syntax.texts import name_text

_EXAMPLE = "k_anonymity(k => 4)"
# The model that is meant if only its number is written.
_MODELS = {"k": "k_anonymity", "l": "l_diversity", "t": "t_closeness"}


def policy_of(text: str) -> Policy:
    """Reads the policy in a CREATE POLICY statement, as a certificate contains it.

    REQUIRE may be missing, because a release that is not checked for requirements has a policy without any.

    Raises ValueError unless the text is one statement, and StatementError for another statement.
    """
    (piece,) = split(text)
    reader = Reader(text, Positions(text), piece.start, piece.end, label="CREATE POLICY", form="")
    policy, _, _ = create_policy(reader, optional=True)
    return policy


def create_policy(reader: Reader, *, optional: bool = False) -> tuple[Policy, bool, bool]:
    """Reads a policy; also returns whether OR REPLACE and whether IF NOT EXISTS is there.

    CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name ON source [PIVOT item VALUES rating] (attributes)
    [WITH TABLE source [AS name] ON (column) (attributes) ...] [SAMPLE FRACTION fraction | SAMPLE OF people]
    [CONFIDENTIAL (attributes), ...] [VISIBLE (attributes), ...] [AGAINST public]
    [JOINED WITH RELEASE other ON (columns)] REQUIRE requirements.

    With CONFIDENTIAL, or if `optional`, REQUIRE may be left out.
    """
    or_replace, if_not_exists = created(reader, "POLICY")
    name = object_name(reader, "policy")
    reader.expect("ON")
    reader.mark("source")
    on = source(reader)
    refuse_join(reader)
    pivot, columns = _pivot(reader), attributes(reader)
    refuse_join(reader)
    if pivot is not None and reader.sees("WITH"):
        hint = "take WITH TABLE for the long table, or pivot it in a query, ON (SELECT ...)"
        raise reader.refused("WITH TABLE does not go with PIVOT", hint=hint, token=reader.peek())
    related = related_tables(reader, columns)
    part = sample(reader)
    confidential, visible = sets(reader, "CONFIDENTIAL"), sets(reader, "VISIBLE")
    also = _still_possible(part, confidential, visible)
    _refuse_late_sample(reader)
    public, other, required = _rest(reader, also, optional=optional or bool(confidential))
    policy = Policy(name, on, columns, required, public, confidential, visible, pivot, related, other, part)
    return policy, or_replace, if_not_exists


def _pivot(reader: Reader) -> Pivot | None:
    """Reads PIVOT item VALUES rating, two columns of the source; returns None if the keyword is missing."""
    if not reader.accept("PIVOT"):
        return None
    item = reader.named("the column with the items", "pivot")
    reader.expect("VALUES")
    token = reader.peek()
    rating = reader.named("the column with the values of the items", "pivot")
    if fold(item) == fold(rating):
        hint = "the source has a column with the items, and another with their values: PIVOT item VALUES rating"
        raise reader.refused(f"the column {token.text} is named twice", hint=hint, token=token)
    return Pivot(item, rating)


def sample(reader: Reader) -> Sample | None:
    """Reads SAMPLE FRACTION 0.02 or SAMPLE OF 1000000, the source's share of a population; returns None if the clause
    is missing.
    """
    if not reader.accept("SAMPLE"):
        return None
    reader.mark("sample")
    if reader.choose(("FRACTION", "OF")) == "FRACTION":
        return Sample(fraction=Decimal(values.number(reader)))
    return Sample(people=values.integer(reader, "the number of people of the population, which is a whole number"))


def against(reader: Reader, *also: str, behind: Sequence[str] = ()) -> Source | None:
    """Reads AGAINST public, a table of the whole population; returns None if the keyword is missing.

    REQUIRE must follow. For the error, `also` are other clauses that could come next, and `behind` the clauses between
    AGAINST and REQUIRE.
    """
    if reader.accept("AGAINST"):
        reader.mark("public table")
        return source(reader, before_list=False)
    if not reader.sees("REQUIRE"):
        words = (*also, "AGAINST", *behind, "REQUIRE")
        ends = reader.peek().kind is Kind.END
        hint = f"say what a release has to satisfy: REQUIRE {_EXAMPLE}" if ends else None
        raise reader.expected(either(*words), among=words, hint=hint)
    return None


def joined(reader: Reader) -> JoinedRelease | None:
    """Reads JOINED WITH RELEASE other ON (column, ...), a release and the shared columns; returns None if the clause is
    missing.
    """
    if not reader.accept("JOINED"):
        return None
    reader.expect("WITH", "RELEASE")
    reader.mark("other")
    other = reader.qualified_name("the name of the other release")
    reader.expect("ON")
    return JoinedRelease(other, column_set(reader))


def requirements(reader: Reader, *before: str) -> tuple[Requirement, ...]:
    """Reads REQUIRE model(argument => value, ...), ...; raises StatementError if two are about the same subject.

    A clause in `before` may follow the list's last comma; it is not a model.
    """
    reader.expect("REQUIRE")
    listed: list[Requirement] = []
    while True:
        token = reader.peek()
        _refuse_bare_number(reader)
        model, arguments = values.call(reader, "a requirement", _EXAMPLE, "requirement")
        required = Requirement(model, arguments)
        if required.subject in (other.subject for other in listed):
            hint = f"keep one {model}(...), with the stricter of each number"
            raise reader.refused(f"{model} is required twice", hint=hint, token=token)
        listed.append(required)
        if not reader.further() or any(reader.sees(*clause.split()) for clause in before):
            return tuple(listed)


def _refuse_bare_number(reader: Reader) -> None:
    """Raises StatementError for k = 5, k => 5 or 5 in place of a model."""
    token, behind = reader.peek(), reader.peek(1)
    if token.kind is Kind.NUMBER:
        hint = f"name the model: REQUIRE k_anonymity({token.text})"
        raise reader.refused("a number alone requires nothing", hint=hint, token=token)
    if token.kind is not Kind.WORD or (behind.kind, behind.text) not in ((Kind.SYMBOL, "="), (Kind.SYMBOL, "=>")):
        return
    number = reader.peek(2).text if reader.peek(2).kind is Kind.NUMBER else "5"
    model = _MODELS.get(token.text.lower(), "model")
    hint = f"name the model: REQUIRE {model}({token.text.lower()} => {number})"
    raise reader.refused(f"{shortened(token.text)} is an argument of a model", hint=hint, token=token)


def refuse_number(reader: Reader, before: str = "write REQUIRE") -> None:
    """Raises StatementError for k=10, WITH k=10 or WITH (k=10), as in other tools; `before` begins the hint."""
    at = int(reader.sees("WITH"))
    at += at and reader.sees_symbol("(", ahead=at)
    token, sign, number = reader.peek(at), reader.peek(at + 1), reader.peek(at + 2)
    model = _MODELS.get(token.text.lower()) if token.kind is Kind.WORD else None
    if model is not None and sign.text in ("=", "=>") and number.kind is Kind.NUMBER:
        hint = f"{before} {model}({number.text})"
        raise reader.refused(f"{token.text} is an argument of a model, behind REQUIRE", hint=hint, token=token)


def _rest(
    reader: Reader, also: Sequence[str], *, optional: bool
) -> tuple[Source | None, JoinedRelease | None, tuple[Requirement, ...]]:
    """Reads [AGAINST public] [JOINED WITH RELEASE ...] REQUIRE requirements up to the end; nothing if `optional`."""
    refuse_late(reader)
    if optional and reader.peek().kind is Kind.END:
        return None, None, ()
    public = None if reader.sees("JOINED") else against(reader, *also, behind=["JOINED WITH RELEASE"])
    other = joined(reader)
    _refuse_late_sample(reader)
    required = requirements(reader)
    refuse_late(reader)
    _refuse_late_sample(reader)
    if reader.sees("JOINED"):
        hint = "write it before REQUIRE: JOINED WITH RELEASE other ON (column) REQUIRE ..."
        raise reader.refused("JOINED WITH RELEASE comes too late", hint=hint, token=reader.peek())
    reader.end()
    return public, other, required


def _still_possible(part: Sample | None, confidential: Sequence[object], visible: Sequence[object]) -> tuple[str, ...]:
    """Returns the clauses that may come next in a policy besides AGAINST and REQUIRE, for an error."""
    if visible:
        return ('","',)
    if confidential:
        return ('","', "VISIBLE")
    return (*(() if part else ("WITH TABLE", "SAMPLE")), "CONFIDENTIAL", "VISIBLE")


def sets(reader: Reader, keyword: str) -> tuple[tuple[str, ...], ...]:
    """Reads CONFIDENTIAL, VISIBLE, FRAGMENTS or COLUMNS (column, ...), ...; empty if the keyword is missing."""
    columns: list[tuple[str, ...]] = []
    if reader.accept(keyword):
        columns.append(column_set(reader))
        while reader.accept_symbol(","):
            columns.append(column_set(reader))
    return tuple(columns)


def column_set(reader: Reader) -> tuple[str, ...]:
    """Reads (column, ...), each column once."""
    columns: dict[str, str] = {}

    def item() -> None:
        token = reader.peek()
        column = reader.column("set")
        if fold(column) in columns:
            hint = "name it once; DuckDB's names do not tell upper from lower case"
            raise reader.refused(f"the column {token.text} is named twice in one set", hint=hint, token=token)
        columns[fold(column)] = column

    reader.listed(item)
    return tuple(columns.values())


# WITH TABLE: the related tables of a policy.

_JOINS = ("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
_FORM = "(id ENTITY, ...) WITH TABLE visits AS checkups ON (patient) (diagnosis SENSITIVE)"


def related_tables(reader: Reader, of_source: Sequence[Attribute]) -> tuple[RelatedTable, ...]:
    """Reads WITH TABLE source [AS name] ON (column) (attributes) ...; a name and a column occur once.

    `of_source` are the attributes of the policy's source.
    """
    tables: list[RelatedTable] = []
    columns = {fold(attribute.name) for attribute in of_source}
    form = reader.form
    while reader.accept("WITH"):
        reader.form = _FORM
        reader.expect("TABLE")
        tables.append(_related_table(reader, columns, {fold(table.name) for table in tables}))
        columns |= {fold(attribute.name) for attribute in tables[-1].attributes}
    reader.form = form
    return tuple(tables)


def refuse_late(reader: Reader) -> None:
    """Raises StatementError if WITH TABLE comes next, after other clauses."""
    if reader.sees("WITH", "TABLE"):
        raise reader.refused(
            "WITH TABLE comes too late",
            hint=f"write it directly after the columns of the source: {_FORM}",
            token=reader.peek(),
        )


def _refuse_late_sample(reader: Reader) -> None:
    """Raises StatementError if SAMPLE comes next, after other clauses."""
    if reader.sees("SAMPLE"):
        hint = "write it directly after the columns: (...) SAMPLE FRACTION 0.02 REQUIRE ..."
        raise reader.refused("SAMPLE comes too late", hint=hint, token=reader.peek())


def refuse_join(reader: Reader) -> None:
    """Raises StatementError if JOIN comes next, as in a query."""
    if any(reader.sees(*words.split()) for words in _JOINS):
        raise reader.refused(
            "a policy joins no tables",
            hint=f"name those that belong to its source WITH TABLE: {_FORM}; or join them in a query, ON (SELECT ...)",
            token=reader.peek(),
        )


def _related_table(reader: Reader, columns: set[str], names: set[str]) -> RelatedTable:
    token = reader.peek()
    of_rows = source(reader, before_list=False)
    name, token = _name(reader, of_rows, token)
    if fold(name) in names:
        raise reader.refused(
            f"two tables are called {name}", hint="tell them apart: WITH TABLE ... AS another_name", token=token
        )
    reader.parts.add(token.start, "table", name)
    reader.expect("ON")
    key = _key(reader, name)
    return RelatedTable(name, of_rows, key, _attributes(reader, name, columns))


def _name(reader: Reader, of_rows: Source, token: Token) -> tuple[str, Token]:
    """Reads the name after AS, else takes the table's own name; returns it with its token."""
    if reader.accept("AS"):
        token = reader.peek()
        return reader.name("a name for the table"), token
    if of_rows.name is None:
        raise reader.expected("AS, and a name for the table", among=("AS",))
    return of_rows.name.name, token


def _key(reader: Reader, table: str) -> str:
    """Reads (column), the column with the values of the ENTITY."""
    keys: list[str] = []
    reader.mark("table", table, "key")

    def item() -> None:
        if keys:
            raise reader.refused(
                "ON names more than one column",
                hint="the column names the ENTITY of each row; combine several columns in a query",
                token=reader.peek(),
            )
        keys.append(reader.name("the column with the values of the ENTITY"))

    reader.listed(item)
    return keys[0]


def _attributes(reader: Reader, table: str, columns: set[str]) -> tuple[Attribute, ...]:
    """Reads the columns of a related table. A column belongs to one table of the policy only."""

    def require(attribute: Attribute, token: Token) -> None:
        if fold(attribute.name) in columns:
            raise reader.refused(
                f"the column {token.text} is named in two tables",
                hint=f"rename it in a query: WITH TABLE (SELECT {token.text} AS ..., ...) AS {name_text(table)}",
                token=token,
            )
        if attribute.role is Role.ENTITY:
            raise reader.refused(
                f"{token.text} is an ENTITY, which must be a column of the source",
                hint=f"ON (column) names the column of {table} with its values, which needs no role",
                token=token,
            )

    return attributes(reader, require)

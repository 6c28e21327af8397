"""Puts people into classes by an adversary's knowledge of a table of people and of tables with rows about them.

Nergiz, Clifton and Nergiz, Multirelational k-anonymity (2007). A person is counted once, however many rows there are
about them, and two tables with rows about people are never joined with each other. The argument `knows` of a
requirement says what an adversary may know about a person's rows in a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, entry, infix, numbered, total, union_all
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import Names, filled_query, query_file
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import class_id
from sqlanon.sql.classes.rows import Rows, class_label

# The knowledge of a person's rows in a table: the values that occur in them, or these with their numbers.
VALUES, HISTORY = "values", "history"

_CLASS, _PERSON = "class_id", "person"
# The type of a list of combination numbers, which is sorted by these numbers.
_SET = "BIGINT[]"


def is_partition(knows: str) -> bool:
    """Whether each person is in exactly one class, instead of in a class for each fitting piece of knowledge."""
    return knows in (VALUES, HISTORY)


@dataclass(frozen=True)
class PeopleTable:
    """A table with rows about people: the column of the person, the labels, and the sensitive values.

    If `coded` is true, labels are whole numbers that are never NULL. `count` is the number of rows that one row
    represents. The values of an attribute are in the column of its name, unless `columns` has another column for it.
    """

    relation: exp.Table | exp.Subquery
    person: str
    labels: tuple[str, ...]
    values: tuple[str, ...] = ()
    coded: bool = False
    count: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> exp.Column:
        """Returns the column with the values of a sensitive attribute."""
        return column(self.columns.get(name, name))


@dataclass(frozen=True)
class Profile:
    """The knowledge of people's rows in one table, if each person is in one class: steps, and the relation that the
    last step makes.

    The relation has the columns person and known; a person without rows is not in it.
    """

    relation: str
    steps: tuple[Step, ...] = ()


def known_profile(index: int, table: PeopleTable, knows: str) -> Profile:
    """Returns the knowledge of each person's rows in a table: the set, or the multiset, of their labels."""
    coded, steps = _coded(index, table)
    item: exp.Expr = column("code")
    if knows == HISTORY:
        item = exp.Struct(expressions=[entry("code", item), entry("rows", column("n"))])
    known = alias(f.call("list_sort", f.list_(item)), "known")
    query = select(column(_PERSON), known, of=relation(coded), group_by=[column(_PERSON)])
    return Profile(f"profile_{index}", (*steps, (f"profile_{index}", query)))


def _coded(index: int, table: PeopleTable) -> tuple[str, list[Step]]:
    """Returns coded_i(person, code, n) and its steps: each person's combinations of labels, with row counts."""
    name, combination = f"coded_{index}", f"combination_{index}"
    count = f.count() if table.count is None else total(column(table.count, "row"))
    if table.coded or not table.labels:
        keys = [column(label, "row") for label in table.labels]
        query = filled_query(
            "SELECT {row.person} AS person, $code AS code, $n AS n FROM rows AS row GROUP BY {row.person}, {keys}",
            tables={"rows": table.relation},
            names={"person": table.person, "keys": keys},
            code=class_id(keys) if keys else 0,
            n=count,
        )
        return name, [(name, query)]
    # Under separate names, because a column may be called code.
    names: Names = {
        **{"person": table.person, "labels": table.labels, "combination": combination},
        "names": [_label(number) for number in range(len(table.labels))],
    }
    tables = {"rows": table.relation}
    return name, [
        (combination, query_file("profiles", "numbered_combinations", tables=tables, names=names)),
        (name, query_file("profiles", "coded_people", tables=tables, names=names, n=count)),
    ]


def rows_of_people(
    people: PeopleTable,
    related: Sequence[PeopleTable],
    knows: str,
    most: int | None = None,
    profiles: Sequence[Profile] | None = None,
    valued: Sequence[PeopleTable] | None = None,
) -> Rows:
    """Returns people in the classes of an adversary's knowledge; a sensitive value counts once for each person.

    `most` is the number of label combinations of one table that a reader may know if classes overlap, or None for all
    combinations. `profiles` are the profiles of the related tables if they exist already, and `valued` the tables with
    their sensitive values, if they are other tables.
    """
    valued = related if valued is None else valued
    if is_partition(knows):
        if profiles is None:
            profiles = [known_profile(index, table, knows) for index, table in enumerate(related)]
        steps = [step for profile in profiles for step in profile.steps]
        steps.append(("member", _by_profile(people, profiles)))
    else:
        steps = _by_sets(people, related, most)
    member = Rows(relation("member"), (column(_CLASS),), column(_CLASS))
    return Rows(
        member.relation,
        member.keys,
        member.class_id,
        {name: column(_value(index)) for index, name in enumerate(people.values)},
        steps=(*_persons(people), *steps),
        apart=dict(_apart(valued, member)),
        whole=None if is_partition(knows) else _whole(people, valued),
    )


def _whole(people: PeopleTable, related: Sequence[PeopleTable]) -> Rows:
    """Returns all people as one class, with each person once."""
    columns: dict[str, exp.Expr] = {value: column(_value(index)) for index, value in enumerate(people.values)}
    apart = {
        value: Rows(subquery(_person_values(table, value), "of_person"), (), literal(0), {value: column("value")})
        for table in related
        for value in table.values
    }
    return Rows(relation("person"), (), literal(0), columns, apart=apart)


def _persons(people: PeopleTable) -> list[Step]:
    """Returns person(person, label_0, ..., value_0, ...): the table of people with uniform column names."""
    parts = [alias(column(people.person), _PERSON)]
    parts += [alias(column(label), _label(index)) for index, label in enumerate(people.labels)]
    parts += [alias(people.value(name), _value(index)) for index, name in enumerate(people.values)]
    return [("person", select(*parts, of=people.relation))]


def _label(index: int) -> str:
    return f"label_{index}"


def _value(index: int) -> str:
    return f"value_{index}"


def _of_person(people: PeopleTable) -> dict[str, exp.Expr]:
    """Returns the labels of a person in the table of people, which are fields of the person's class."""
    return {_label(index): column(_label(index), "person") for index in range(len(people.labels))}


def _others(people: PeopleTable) -> list[exp.Expr]:
    """Returns the columns of a person in a class, besides the fields of the class: the person, and the sensitive
    values.
    """
    return [column(_PERSON, "person"), *(column(_value(index), "person") for index in range(len(people.values)))]


def _by_profile(people: PeopleTable, profiles: Sequence[Profile]) -> exp.Query:
    """Returns member(class_id, person, value_0, ...): each person in the class of all knowledge about them."""
    of = [f"of_{index}" for index in range(len(profiles))]
    known = {f"known_{index}": column("known", name) for index, name in enumerate(of)}
    return filled_query(
        "SELECT $key AS class_id, {others} FROM person"
        ' LEFT JOIN "{profiles}" AS "{of}" ON "{of}".person = person.person',
        names={"others": _others(people), "profiles": [profile.relation for profile in profiles], "of": of},
        key=class_label(_of_person(people) | known),
    )


def _by_sets(people: PeopleTable, related: Sequence[PeopleTable], most: int | None) -> list[Step]:
    """Returns member(class_id, person, value_0, ...): each person with each set of their rows that may be known."""
    steps: list[Step] = []
    nothing = {"known_table": literal(-1), "known": _set()}
    members = [select(_member_class(people, nothing), *_others(people), of=relation("person"))]
    for index, table in enumerate(related):
        coded, of_table = _coded(index, table)
        steps += [*of_table, *_known_sets(index, coded, most)]
        known = {"known_table": literal(index), "known": column("known", "of_table")}
        query = select(_member_class(people, known), *_others(people), of=relation("person"))
        on = column(_PERSON, "of_table").eq(column(_PERSON, "person"))
        members.append(extend(query, joins=[inner_join(relation(f"known_set_{index}", as_="of_table"), on)]))
    return [*steps, ("member", union_all(members))]


def _member_class(people: PeopleTable, known: dict[str, exp.Expr]) -> exp.Alias:
    return alias(class_label(_of_person(people) | known), _CLASS)


def _set(*codes: exp.Expr) -> exp.Expr:
    return cast(exp.Array(expressions=list(codes)), _SET)


def _known_sets(index: int, coded: str, most: int | None) -> list[Step]:
    """Returns known_set_i(person, known, last, items): each person's sets of up to `most` combinations, without
    repetition.

    A set grows by one combination at a time, in the order of the codes.
    """
    name, numbers, listed = f"known_set_{index}", f"combination_code_{index}", f"combination_of_{index}"
    names = {"coded": coded, "numbers": numbers}
    number = filled_query(
        'SELECT code, row_number() OVER () AS number FROM (SELECT DISTINCT code FROM "{coded}") AS occurring',
        names=names,
    )
    numbered_codes = filled_query(
        'SELECT coded.person, "{numbers}".number FROM "{coded}" AS coded'
        ' JOIN "{numbers}" ON coded.code = "{numbers}".code',
        names=names,
    )
    single = query_file("profiles", "single_sets", tables={"combination_of": relation(listed)})
    steps: list[Step] = [(numbers, number), (listed, numbered_codes)]
    if most == 1:
        return [*steps, (name, single)]
    longer = query_file("profiles", "longer_sets", tables={"sets": name, "combination_of": listed})
    if most is not None:
        extend(longer, where=[infix(column("items", "known"), "<", most)])
    return [*steps, (name, exp.union(single, longer, distinct=False))]


def _apart(related: Sequence[PeopleTable], member: Rows) -> Iterator[tuple[str, Rows]]:
    """Yields, for each sensitive attribute of a related table, the people with each value: (class_id, value).

    A person has one row for each value.
    """
    text = """
        SELECT member.class_id, of_person.value FROM member
        JOIN person_value AS of_person ON of_person.person = member.person
    """
    for table in related:
        for name in table.values:
            query = filled_query(text, tables={"person_value": _person_values(table, name)})
            yield name, Rows(subquery(query, "of_class"), member.keys, member.class_id, {name: column("value")})


def _person_values(table: PeopleTable, name: str) -> exp.Query:
    """Returns person, value: the values of a sensitive attribute in any row of each person."""
    text = 'SELECT DISTINCT {person} AS person, $value AS value FROM "{rows}"'
    return filled_query(text, names={"person": table.person, "rows": table.relation}, value=table.value(name))


# The rows of a join of two tables, counted by X and Y without making the join (Wang and Fung 2006).


def key_of_join(index: int) -> str:
    """Returns the name of the column that holds the text of shared column `index`. Both sides are joined by this
    column.
    """
    return f"shared_{index}"


def counted_columns(keys: Sequence[exp.Expr], values: Sequence[exp.Expr], n: exp.Expr) -> tuple[list[exp.Expr], ...]:
    """Returns the columns of one side of a join, and the keys of its GROUP BY; the columns are the shared columns, its
    own columns, and n.
    """
    parts = [alias(key, key_of_join(index)) for index, key in enumerate(keys)]
    parts += [alias(value, f"own_{index}") for index, value in enumerate(values)]
    return [*parts, alias(n, "n")], [part.this.copy() for part in parts]


def joined(sides: Sequence[exp.Query], keys: int, x: Sequence[tuple[int, int]], y: tuple[int, int]) -> exp.Query:
    """Returns joined(x, y, n): n rows of the join of the two sides have this combination of X and Y.

    X is a number. The sides have `keys` shared columns. X and Y are named by their side and their position among its
    own columns. Values of X that match the same rows of the other side have one number, because they give equal
    results.
    """
    without_y = 1 - y[0]
    columns_of_x = sum(side == without_y for side, _ in x)
    sides = [
        _merged_sides(query, keys, columns_of_x) if side == without_y else query for side, query in enumerate(sides)
    ]
    x = [(without_y, 0), *((side, number) for side, number in x if side != without_y)]
    values = [column(f"own_{number}", f"side_{side}") for side, number in (*x, y)]
    names = [f"value_{index}" for index in range(len(values))]
    return query_file(
        "profiles",
        "joined",
        tables={f"side_{side}": query for side, query in enumerate(sides)},
        names={"keys": [key_of_join(index) for index in range(keys)], "names": names, "y": names[-1]},
        x=numbered([column(name) for name in names[:-1]]),
        values=values,
    )


def _merged_sides(side: exp.Query, keys: int, columns: int) -> exp.Query:
    """SELECT of a side of a join in which one number replaces all values of X that match the same rows of the other
    side.
    """
    names = [*(key_of_join(index) for index in range(keys)), "n"]
    row = exp.Struct(expressions=[entry(name, column(name)) for name in names])
    fields = [exp.Dot(this=column("part"), expression=identifier(name)) for name in names]
    own_names = [f"own_{number}" for number in range(columns)]
    path = ("profiles", "merged_sides")
    return query_file(*path, tables={"side": side}, names={"names": names, "own": own_names}, row=row, part=fields)

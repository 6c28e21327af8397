"""The people of a policy on several tables, and the rows about them, as tables of codes for the search.

Each person has a number. People with equal rows in a table at the lowest levels have the number of the first of them;
higher levels read only the rows of these first people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy, BoundRelatedTable
from sqlanon.domain.numbers import counted
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.sources.column_types import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import total, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import carried_code, key_name
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.related import PeopleTable, known_profile, rows_of_people
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.models import Known

PERSON = "person"
# The column of tables of one attribute.
_VALUE = "value"
# A person with this many combinations is in a million classes, one for each set of combinations.
_MOST_KNOWN = 20


@dataclass(frozen=True)
class CodedTable:
    """The rows of a table as codes of their values, for the search over several tables.

    `table` has the codes and `cells` are the cells of which it was made; `first` is the index of the table's first
    level among the levels of all tables in a node.
    """

    table: str
    cells: Cells
    first: int

    @property
    def levels(self) -> slice:
        return slice(self.first, self.first + len(self.cells.layout.fields))


class People:
    """The people of a policy and their rows, at any levels of the quasi-identifiers of all tables.

    `person` is the table of people: person, entity, key_0, ...; `tables` has the coded rows of each related table:
    person, key_0, ..., n.
    """

    def __init__(self, task: Task, low: Sequence[int]) -> None:
        self._task, self._engine, self._temp = task, task.engine, task.temp
        self.policy: BoundPolicy = task.policy
        cells = task.encoded
        number = alias(window(f.row_number()), PERSON)
        keys = [column(key_name(word)) for word in range(cells.layout.words)]
        person = select(number, column("entity"), *keys, of=relation(cells.table))
        self.person = self._temp.table("person", person)
        self.count = cells.rows
        self.tables: list[CodedTable] = []
        first = len(cells.layout.fields)
        self.of_person = CodedTable(self.person, cells, 0)
        for table, of_table in zip(self.policy.related, cells.related, strict=True):
            self.tables.append(CodedTable(self._rows(of_table), of_table, first))
            self._require_known(table, self.tables[-1])
            first += len(of_table.layout.fields)
        self._low = tuple(low)
        self._values: dict[str, str] = {}
        self._bases: dict[str, str] = {}
        self._profiles: dict[tuple[str, int, tuple[int, ...]], str] = {}

    def _rows(self, cells: Cells) -> str:
        keys = [column(key_name(word), "row") for word in range(cells.layout.words)]
        same = column("entity", "row").eq(column("entity", PERSON))
        joins = [inner_join(relation(self.person, as_=PERSON), same)]
        number = column(PERSON, PERSON)
        rows = select(number, *keys, column("n", "row"), of=relation(cells.table, as_="row"), joins=joins)
        return self._temp.table("about", rows)

    def _require_known(self, table: BoundRelatedTable, coded: CodedTable) -> None:
        """Raises InternalError if rows of a related table belong to nobody, or to several people."""
        rows = self._number(select(total(column("n")), of=relation(coded.table)))
        if rows != coded.cells.rows:
            raise InternalError(f"{table.name} has {coded.cells.rows} rows, of which {rows} belong to one person")

    def _number(self, query: exp.Query) -> int:
        return int(self._engine.rows(query)[0][0] or 0)

    def released(self, gone: str | None) -> list[int]:
        """The numbers of published rows, of the people and of each table, if the people in the table `gone` are left
        out.
        """
        numbers = []
        for coded, weight in ((self.of_person, literal(1)), *((table, column("n", "row")) for table in self.tables)):
            left_out = 0
            if gone is not None:
                same = column(PERSON, "gone").eq(column(PERSON, "row"))
                joins = [inner_join(relation(gone, as_="gone"), same)]
                left_out = self._number(select(total(weight), of=relation(coded.table, as_="row"), joins=joins))
            numbers.append(coded.cells.rows - left_out)
        return numbers

    def value_table(self, index: int, name: str) -> str:
        """Returns the table (person, value) of a related table's sensitive attribute, without repetition."""
        if name not in self._values:
            table = self.policy.related[index]
            bound = next(b for b in table.attributes if b.column == name)
            entity = self.policy.entity
            if entity is None:
                raise InternalError("a policy on several tables has no ENTITY")
            same = column(table.key, "row").eq(column("entity", PERSON))
            joins = [inner_join(relation(self.person, as_=PERSON), same)]
            value = alias(published_value(bound, "row"), _VALUE)
            rows = select(
                column(PERSON, PERSON), value, of=relation(table.relation, as_="row"), joins=joins, distinct=True
            )
            self._values[name] = self._temp.table("value", rows)
        return self._values[name]

    def require_countable(self, known: Known, most_sets: int | None = None) -> None:
        """Raises PolicyError if the classes of this kind of knowledge are too many to count, or more than
        `most_sets`.
        """
        most_sets = sizes().most_itemsets if most_sets is None else most_sets
        sets = 0
        for table, coded in zip(self.policy.related, self.tables, strict=True):
            rows = _masked(coded.table, coded.cells, self._low[coded.levels], [column(PERSON)])
            by_person = select(column(PERSON), alias(f.count(), "items"), of=rows, group_by=[column(PERSON)])
            numbers = select(
                column("items"), f.count(), of=subquery(by_person, "of_person"), group_by=[column("items")]
            )
            by_number = [(int(items), int(people)) for items, people in self._engine.rows(numbers)]
            longest = max((items for items, _ in by_number), default=0)
            if known.most is None and longest > _MOST_KNOWN:
                several = sum(people for items, people in by_number if items > _MOST_KNOWN)
                raise PolicyError(
                    f"{self.policy.policy}: {counted(several, 'person has', 'people have')} more than {_MOST_KNOWN} "
                    f"different rows in {table.name}, of which knows => {known.written} knows any set",
                    hint="require knows => 'values', which is stricter, or knows => 'm_rows', m => 2, or say MIN LEVEL",
                )
            most = longest if known.most is None else known.most
            sets += sum(people * sum(comb(items, n) for n in range(1, most + 1)) for items, people in by_number)
        if sets > most_sets:
            raise PolicyError(
                f"{self.policy.policy}: people have {sets:,} sets of up to "
                f"{'all' if known.most is None else known.most} of their different rows, and no more than "
                f"{most_sets:,} are counted",
                hint="require a smaller m, or knows => 'values', which is stricter, or write MIN LEVEL",
            )

    def rows_at(self, node: Sequence[int], known: Known, values: Sequence[tuple[str, ...]]) -> Rows:
        """Returns the people in their classes at a node, by an adversary's knowledge `known`.

        `values` are the sensitive attributes of the requirements.
        """
        wanted = dict.fromkeys(name for subject in values for name in subject)
        cells = self.of_person.cells
        own_names = [name for name in wanted if name in cells.carried]
        # They get names of their own, because an attribute may have the name of a key.
        columns = {name: f"carried_{index}" for index, name in enumerate(own_names)}
        codes = [alias(carried_code(cells.layout, [cells.carried.index(n)], PERSON), columns[n]) for n in own_names]
        of_others = [
            PeopleTable(relation(self.value_table(index, name)), PERSON, (), (name,), columns={name: _VALUE})
            for index, table in enumerate(self.policy.related)
            for name in (b.column for b in table.attributes)
            if name in wanted
        ]
        labels = tuple(key_name(word) for word in range(cells.layout.words))
        keys = _masked_keys(cells, node[self.of_person.levels], PERSON)
        if known.is_partition:
            people = self._with_profiles(node, known, [*keys, *codes])
            numbers = tuple(_profile(index) for index in range(len(self.tables)))
            table = PeopleTable(
                subquery(people, "people"), PERSON, (*labels, *numbers), tuple(own_names), columns=columns
            )
            return rows_of_people(table, [], known.knows, profiles=(), valued=of_others)
        query = select(column(PERSON, PERSON), *keys, *codes, of=relation(self.person, as_=PERSON))
        table = PeopleTable(subquery(query, "people"), PERSON, labels, tuple(own_names), columns=columns)
        about = [self._at(coded, node) for coded in self.tables]
        return rows_of_people(table, about, known.knows, known.most, valued=of_others)

    def _at(self, coded: CodedTable, node: Sequence[int], among: exp.Expr | None = None) -> PeopleTable:
        """Returns the rows of a related table with their labels at a node, as codes; `among` is a condition on the
        rows.
        """
        columns = [column(PERSON), column("n")]
        rows = _masked(coded.table, coded.cells, node[coded.levels], columns, counted=True, among=among)
        labels = tuple(key_name(word) for word in range(coded.cells.layout.words))
        return PeopleTable(rows, PERSON, labels, coded=True, count="n")

    def _with_profiles(self, node: Sequence[int], known: Known, outputs: Sequence[exp.Expr]) -> exp.Query:
        """SELECT of all people with these outputs, and for each table a number that people with equal known rows share.

        The number is 0 if the person has no rows in the table.
        """
        tables = [
            self._profile_table(index, coded, known, tuple(node[coded.levels]))
            for index, coded in enumerate(self.tables)
        ]
        return filled_query(
            'SELECT person.person, {outputs}, coalesce("{of}".known, 0) AS "{profiles}" FROM "{base}" AS person'
            ' LEFT JOIN "{tables}" AS "{of}" ON {person.profiles} = "{of}".person',
            names={**self._profile_names(tables), "outputs": outputs, "base": self._base(known)},
        )

    def _profile_names(self, tables: Sequence[str]) -> dict[str, Sequence[str]]:
        """Returns the tables of profiles, their names in a join, and the columns with their numbers."""
        indexes = range(len(tables))
        return {"tables": tables, "of": [f"of_{index}" for index in indexes], "profiles": [*map(_profile, indexes)]}

    def _base(self, known: Known) -> str:
        """Makes the table of people, with one number for each related table: the first person who has equal known rows
        there.

        Rows are compared at the lowest levels. People with equal rows there have equal rows at all levels, so higher
        levels read only the rows of these first people. Returns the table's name.
        """
        if known.knows not in self._bases:
            at_lowest = [self._at(coded, self._low) for coded in self.tables]
            tables = [self._numbered(index, rows, known, "base") for index, rows in enumerate(at_lowest)]
            query = filled_query(
                'SELECT person.*, coalesce("{of}".known, 0) AS "{profiles}" FROM "{person}" AS person'
                ' LEFT JOIN "{tables}" AS "{of}" ON "{of}".person = person.person',
                names={**self._profile_names(tables), "person": self.person},
            )
            self._bases[known.knows] = self._temp.table("base", query)
        return self._bases[known.knows]

    def _profile_table(self, index: int, coded: CodedTable, known: Known, levels: tuple[int, ...]) -> str:
        """Returns the table (person, known) of a related table at some levels, for the first persons of `_base`.

        `known` is the first of these people with equal known rows at the levels.
        """
        key = (known.knows, index, levels)
        if key not in self._profiles:
            node = [*self._low]
            node[coded.levels] = levels
            names = {"profile": _profile(index), "base": self._base(known)}
            rows = self._at(coded, node, filled('person IN (SELECT {profile} FROM "{base}")', names=names))
            self._profiles[key] = self._numbered(index, rows, known, "profile")
        return self._profiles[key]

    def _numbered(self, index: int, table: PeopleTable, known: Known, purpose: str) -> str:
        """Makes the table (person, known): each person of `table`, and the first person with equal known rows in it."""
        profile = known_profile(index, table, known.knows)
        text = 'SELECT person, min(person) OVER (PARTITION BY known) AS known FROM "{profile}"'
        query = filled_query(text, names={"profile": profile.relation})
        return self._temp.table(purpose, with_steps(query, profile.steps))


def _profile(index: int) -> str:
    return f"profile_{index}"


def _masked_keys(cells: Cells, levels: Sequence[int], of: str | None = None) -> list[exp.Expr]:
    """The SQL of the words of a cell's key, without the bits that these levels ignore."""
    masks = {key_name(word): mask for word, mask in enumerate(cells.layout.masks(levels))}
    text = 'CAST($key & $mask AS BIGINT) AS "{name}"'
    return [filled(text, names={"name": name}, key=column(name, of), mask=mask) for name, mask in masks.items()]


def _masked(
    table: str,
    cells: Cells,
    levels: Sequence[int],
    columns: Sequence[exp.Expr],
    *,
    counted: bool = False,
    among: exp.Expr | None = None,
) -> exp.Subquery:
    """The rows of a table of codes at these levels, as a subquery with these columns.

    Repeated rows are removed unless `counted`; `among` is a condition on the rows that are read.
    """
    query = filled_select(
        'SELECT {columns} FROM "{table}" WHERE $among',
        names={"columns": [*columns, *_masked_keys(cells, levels)], "table": table},
        among=[] if among is None else [among],
    )
    return subquery(query if counted else query.distinct(copy=False), "masked")

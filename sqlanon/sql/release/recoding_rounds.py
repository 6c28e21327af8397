"""Local recoding in a release: the round that publishes each row, and the labels of the row in this round.

Every row has a class in each round: class_1, class_2, ..., with a special value for rows without a class. A round keeps
the classes that violate no requirement, among the rows that no earlier round has kept; a model that compares with the
whole table also sees only these rows. A row is recoded by the first round that keeps it. The rows of all rounds
together go through the guard like any other release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build.expressions import and_, big, identical, if_, infix, or_, paren
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import class_id
from sqlanon.sql.cells.labels import code_at, label_at
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, SqlRequirement
from sqlanon.sql.release.recode import Recoding, class_layout


def class_name(number: int) -> str:
    """Returns the name of the column with a row's class in a round, counted from 1."""
    return f"class_{number}"


def _kept_name(number: int) -> str:
    return f"kept_{number}"


def _label_name(index: int, level: int) -> str:
    return f"label_{index}_{level}"


def join_rounds(
    query: exp.Select,
    recodings: Sequence[tuple[int, Recoding]],
    value: Callable[[int, BoundAttribute], exp.Expr],
    conditions: Sequence[exp.Expr] = (),
) -> list[exp.Alias]:
    """Joins the labels recode_i to a query's rows, and returns the class_j that their codes make in each round.

    `value` returns the rows' own value of the attribute at an index; `conditions` are further conditions of each join.
    A row without a label in a round has no class in it.
    """
    for n, (i, recoding) in enumerate(recodings):
        name = f"recode_{i}"
        same = identical(value(i, recoding.bound), column("value", name))
        extend(query, joins=[left_join(relation(name), and_(same, *conditions[n : n + 1]))])
    return [alias(_class(recodings, number), class_name(number + 1)) for number in range(_count(recodings))]


def round_labels(recodings: Sequence[tuple[int, Recoding]]) -> list[exp.Alias]:
    """Returns the labels of joined rows: label_i, or a label for each round if the level differs between rounds."""
    labels: list[exp.Alias] = []
    for i, recoding in recodings:
        if not recoding.mixed:
            labels.append(alias(column("label", f"recode_{i}"), f"label_{i}"))
            continue
        for level in sorted(set(recoding.levels)):
            labels.append(alias(column(label_at(level), f"recode_{i}"), _label_name(i, level)))
    return labels


def _count(recodings: Sequence[tuple[int, Recoding]]) -> int:
    return max((len(recoding.levels) for _, recoding in recodings), default=1)


def _class(recodings: Sequence[tuple[int, Recoding]], number: int) -> exp.Expr:
    """Returns the SQL of a row's class in a round: a struct of words that hold the codes of its labels."""
    layout = class_layout(len(recodings))
    words: list[exp.Expr | None] = [None] * layout.words
    placed: list[exp.Expr] = []
    for (i, recoding), (spot,) in zip(recodings, layout.fields, strict=True):
        code = column(code_at(recoding.levels[number]) if recoding.mixed else "code", f"recode_{i}")
        # A label beyond the bits of its field would overlap another field: its rows have no class.
        placed.append(code < literal(1 << spot.bits))
        part = paren(infix(code, "<<", literal(spot.shift)))
        before = words[spot.word]
        words[spot.word] = (before + part) if before else part
    whole = class_id([word or big(literal(0)) for word in words])
    if not placed:
        return whole
    return if_(and_(*placed), whole, _nowhere(layout.words))


def _nowhere(words: int) -> exp.Expr:
    """Returns the class_id of rows that have no class. No other row has it, because no code is negative."""
    return class_id([big(literal(-1)) for _ in range(words)])


@dataclass(frozen=True)
class Rounds:
    """The rounds of a local recoding.

    Their rows are the relation "labelled", the public table's rows "public_labelled", each with class_j and the labels.
    `requirement_columns` maps a column that requirements read to its column in "labelled", and `entity` is the column
    with the respondent; `others` are columns that pass through.
    """

    recodings: Sequence[tuple[int, Recoding]]
    requirements: Sequence[SqlRequirement]
    background: Background
    requirement_columns: dict[str, str]
    entity: str | None
    others: Sequence[str]

    @property
    def count(self) -> int:
        return _count(self.recodings)

    def steps(self) -> list[Step]:
        """Returns steps that make kept_1, kept_2, ...: the classes that each round keeps."""
        return [(_kept_name(number), self._kept_classes(number)) for number in range(1, self.count + 1)]

    def recoded(self) -> exp.Select:
        """Returns every row that a round keeps, with its class and its labels in that round: class_id, label_i,
        others.
        """
        return filled_select(
            'SELECT $key AS class_id, $labels AS "{labels}", {others} FROM placed WHERE NOT "round" IS NULL',
            tables={"placed": self._placed("labelled")},
            names={"labels": [f"label_{i}" for i, _ in self.recodings], "others": self.others},
            labels=[self._label(i, recoding) for i, recoding in self.recodings],
            key=self._in_round(class_name),
        )

    def public_recoded(self) -> exp.Select:
        """Returns every public row: class_id, has_class, label_i. A row that no round keeps is in no class."""
        key = self._in_round(class_name)
        key.set("default", _nowhere(class_layout(len(self.recodings)).words))
        return filled_select(
            'SELECT $key AS class_id, NOT "round" IS NULL AS has_class, $labels AS "{labels}" FROM placed',
            tables={"placed": self._placed("public_labelled")},
            names={"labels": [f"label_{i}" for i, _ in self.recodings]},
            labels=[self._label(i, recoding) for i, recoding in self.recodings],
            key=key,
        )

    def _placed(self, rows: str) -> exp.Query:
        """SELECT of the rows with the number of the first round of a local recoding that keeps their class; NULL if
        none does.
        """
        numbers = range(1, self.count + 1)
        text = 'SELECT *, CASE WHEN $kept THEN $numbers END AS "round" FROM "{rows}"'
        return filled_query(text, names={"rows": rows}, kept=[*map(_is_kept, numbers)], numbers=[*numbers])

    def _in_round(self, name: Callable[[int], str]) -> exp.Case:
        """Returns the SQL of a column that exists once for each round, such as class_1, class_2, ..., in the row's own
        round.
        """
        numbers = [*range(1, self.count + 1)]
        names = {"columns": [*map(name, numbers)]}
        rounds = filled('CASE WHEN "round" = $numbers THEN {columns} END', names=names, numbers=numbers)
        assert isinstance(rounds, exp.Case)
        return rounds

    def _label(self, index: int, recoding: Recoding) -> exp.Expr:
        if not recoding.mixed:
            return column(f"label_{index}")
        return self._in_round(lambda number: _label_name(index, recoding.levels[number - 1]))

    def _kept_classes(self, number: int) -> exp.Select:
        """SELECT of class_id: the classes of one round that violate no requirement, among the rows that no earlier
        round keeps.
        """
        columns = {name: column(source_name) for name, source_name in self.requirement_columns.items()}
        entity = column(self.entity) if self.entity else None
        rows = Rows(relation("round_row"), (column("class_id"),), column("class_id"), columns, entity)
        columns_read = [*columns.values(), *([entity] if entity else [])]
        steps: list[Step] = [("round_row", self._left(number, "labelled", columns_read))]
        background = self.background
        if background.public_class is not None:
            steps.append(("round_public", self._left(number, "public_labelled", [])))
            counted = filled_query("SELECT class_id, count(*) AS n FROM round_public GROUP BY class_id")
            background = replace(background, public_class=counted)
        steps += [*relations_of(rows, self.requirements, background), *sensitive_values(self.requirements)]
        query = filled_select(
            "SELECT class_id FROM equivalence_class"
            " WHERE class_id <> $nowhere AND NOT class_id IN (SELECT class_id FROM violations)",
            tables={"violations": violations(self.requirements)},
            nowhere=_nowhere(class_layout(len(self.recodings)).words),
        )
        return with_steps(query, steps)

    def _left(self, number: int, rows: str, others: Sequence[exp.Expr]) -> exp.Query:
        """SELECT of the rows in `rows` with their class in a round; rows that an earlier round keeps have no class."""
        return filled_query(
            'SELECT CASE WHEN $kept THEN $nowhere ELSE {class} END AS class_id, {others} FROM "{rows}"',
            names={"class": class_name(number), "others": others, "rows": rows},
            kept=[or_(*map(_is_kept, range(1, number)))] if number > 1 else [],
            nowhere=_nowhere(class_layout(len(self.recodings)).words),
        )


def _is_kept(number: int) -> exp.Expr:
    names = {"class": class_name(number), "kept": _kept_name(number)}
    return filled('{class} IN (SELECT class_id FROM "{kept}")', names=names)

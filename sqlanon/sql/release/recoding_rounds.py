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
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, big, case, identical, if_, infix, is_null, not_, or_, paren
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join, select, subquery
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
    whole = class_id([word or _bigint(0) for word in words])
    if not placed:
        return whole
    return if_(and_(*placed), whole, _nowhere(layout.words))


def _nowhere(words: int) -> exp.Expr:
    """Returns the class_id of rows that have no class. No other row has it, because no code is negative."""
    return class_id([_bigint(-1) for _ in range(words)])


def _bigint(value: int) -> exp.Expr:
    return big(literal(value))


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
        labels = [alias(self._label(i, recoding), f"label_{i}") for i, recoding in self.recodings]
        others = [column(name) for name in self.others]
        query = select(alias(self._in_round(class_name), "class_id"), *labels, *others)
        return extend(query, of=self._placed("labelled"), where=[not_(_no_round())])

    def public_recoded(self) -> exp.Select:
        """Returns every public row: class_id, has_class, label_i. A row that no round keeps is in no class."""
        labels = [alias(self._label(i, recoding), f"label_{i}") for i, recoding in self.recodings]
        named = self._in_round(class_name)
        named.set("default", _nowhere(class_layout(len(self.recodings)).words))
        has_class = alias(not_(_no_round()), "has_class")
        return select(alias(named, "class_id"), has_class, *labels, of=self._placed("public_labelled"))

    def _placed(self, rows: str) -> exp.Subquery:
        """SELECT of the rows with the number of the first round of a local recoding that keeps their class; NULL if
        none does.
        """
        first_round = case(*((_is_kept(number), number) for number in range(1, self.count + 1)))
        return subquery(select(exp.Star(), alias(first_round, "round"), of=relation(rows)), "placed")

    def _in_round(self, name: Callable[[int], str]) -> exp.Case:
        """Returns the SQL of a column that exists once for each round, such as class_1, class_2, ..., in the row's own
        round.
        """
        rounds = range(1, self.count + 1)
        return case(*((column("round").eq(number), column(name(number))) for number in rounds))

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
        columns_read = [
            column(name) for name in (*self.requirement_columns.values(), *([self.entity] if self.entity else []))
        ]
        steps: list[Step] = [("round_row", self._left(number, "labelled", columns_read))]
        background = self.background
        if background.public_class is not None:
            steps.append(("round_public", self._left(number, "public_labelled", [])))
            count = alias(f.count(), "n")
            counted = select(column("class_id"), count, of=relation("round_public"))
            background = replace(background, public_class=extend(counted, group_by=[column("class_id")]))
        steps += [*relations_of(rows, self.requirements, background), *sensitive_values(self.requirements)]
        here = column("class_id").neq(_nowhere(class_layout(len(self.recodings)).words))
        violating = select(column("class_id"), of=subquery(violations(self.requirements), "violations"))
        fine = exp.not_(column("class_id").isin(query=violating))
        return with_steps(select(column("class_id"), of=relation("equivalence_class"), where=[here, fine]), steps)

    def _left(self, number: int, rows: str, others: Sequence[exp.Expr]) -> exp.Select:
        """SELECT of the rows in `rows` with their class in a round; rows that an earlier round keeps have no class."""
        named: exp.Expr = column(class_name(number))
        if number > 1:
            before = or_(*(_is_kept(earlier) for earlier in range(1, number)))
            nowhere = _nowhere(class_layout(len(self.recodings)).words)
            named = if_(before, nowhere, named)
        return select(alias(named, "class_id"), *others, of=relation(rows))


def _is_kept(number: int) -> exp.Expr:
    classes = select(column("class_id"), of=relation(_kept_name(number)))
    return column(class_name(number)).isin(query=classes)


def _no_round() -> exp.Expr:
    return is_null(column("round"))

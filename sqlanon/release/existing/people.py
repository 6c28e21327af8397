"""The people of a release of several tables that belong together: one of them, and others with rows about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import Release
from sqlanon.errors import CatalogError, InternalError, PolicyError
from sqlanon.sql.classes.related import PeopleTable, rows_of_people
from sqlanon.sql.classes.requirement import SqlRequirement
from sqlanon.sql.classes.rows import RowsOfRequirements
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.known import by_known


def people_in_no_class(release: object) -> PolicyError:
    """What is raised where rows have to be in classes, whatever is known of the people that they are about."""
    return PolicyError(
        f"{release} shows people in several tables, where a person is in no class by one row",
        hint="CHECK recomputes what was required of what is known of people",
    )


def shows_people(release: Release) -> bool:
    """Whether a release shows people, who have numbers, in several tables."""
    return any(attribute.reading is Reading.RESPONDENT for attribute in release.attributes)


@dataclass(frozen=True)
class PeopleColumns:
    """The columns of each published table, and how each is read, by what stands behind the release's name.

    `sensitive` are those of all tables, as requirements name them.
    """

    policy: Policy
    columns: Mapping[str, Sequence[tuple[str, Reading]]]
    sensitive: tuple[str, ...]

    def rows(
        self,
        sources: Mapping[str, exp.Table | exp.Subquery],
        requirements: Sequence[SqlRequirement],
        indexes: Sequence[int],
    ) -> list[RowsOfRequirements]:
        """The people in their classes, by what each requirement says is known; none unless all tables are at hand."""
        names = self.policy.tables_in_order(tuple(sources))
        if names is None:
            return []
        people, *related = (self._table(name, sources[name]) for name in names)
        bound = [requirement for requirement in requirements if isinstance(requirement, BoundRequirement)]
        if len(bound) < len(requirements):
            raise InternalError("something else than requirements is asked of people in several tables")
        parts: list[RowsOfRequirements] = []
        for known, of_known in by_known(bound).items():
            if at := tuple(index for index in of_known if index in indexes):
                parts.append(RowsOfRequirements(rows_of_people(people, related, known.knows, known.most), at))
        return parts

    def _table(self, name: str, rows: exp.Table | exp.Subquery) -> PeopleTable:
        """A table by its columns. Raises CatalogError unless one has the numbers of people."""
        roles = {fold(attribute.name): attribute.role for attribute in self.policy.all_attributes}
        spelled = {fold(each): each for each in self.sensitive}
        columns = self.columns.get(name, ())
        numbers = [column for column, reading in columns if reading is Reading.RESPONDENT]
        if len(numbers) != 1:
            raise CatalogError(f"the table {name} has {len(numbers)} columns with numbers of people, and not one")
        others = [column for column, reading in columns if reading is not Reading.RESPONDENT]
        labels = tuple(column for column in others if roles.get(fold(column)) is Role.QUASI_IDENTIFIER)
        return PeopleTable(rows, numbers[0], labels, tuple(spelled[fold(c)] for c in others if fold(c) in spelled))

"""An export as its receiver has it. All reading of its files goes through one class, which trusts nothing before it is
checked.

The data must have the digests in the certificate (`opening.py`), the certificate must have the members of its format,
its columns must follow from its policy and its method (`claims.py`), and the rows must have these columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Measurement, Reading
from sqlanon.domain.values import Source, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PrivacyViolation, SqlanonError, UserError
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.export.certificate import definition_of
from sqlanon.export.certificate_format import CERTIFICATE_VERSION, Certificate, certificate_of, number_of
from sqlanon.export.claims import arguments_of, hidden_column, unlike_attributes, unlike_release, unpublished
from sqlanon.export.formats.base import COMMAS, CsvFields, ExportFile, Format
from sqlanon.methods.registry import promised_by, worded
from sqlanon.release.existing.classes import PeopleColumns, rows_of_each
from sqlanon.release.existing.estimable import Recorded, RecordedColumn, RecordedTable, published
from sqlanon.sources.column_types import ENUM
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, or_
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.classes.buckets import BucketValues, bucket_rows, rows_of_buckets, values_of_table
from sqlanon.sql.classes.rows import RowsOfRequirements, SqlRequirement, rows_of
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.release.recode import ENDS
from sqlanon.syntax.policy import policy_of

# Formats that any connection can read.
READ = ("parquet", "csv")
# Roles of columns that do not distinguish classes.
_NO_KEYS = (Role.SENSITIVE, Role.INSENSITIVE, Role.IDENTIFIER, Role.ENTITY)
_ENDS = dict(zip((Reading.LOWER_BOUND, Reading.UPPER_BOUND), ENDS, strict=True))
# Readings whose values have the source's type.
_VALUES = (Reading.EXACT, Reading.BUCKET_VALUE, *_ENDS)
# The types of columns without a column of the source: some formats have texts only.
_KINDS = {
    Reading.COUNT: "BIGINT",
    Reading.COUNTERFEITS: "BIGINT",
    Reading.NOISY_COUNT: "BIGINT",
    Reading.ITEM_LABELS: "VARCHAR[]",
    Reading.RESPONDENT: "BIGINT",
}
# Types whose values have one text each; for other types a cast may change the text without changing the value.
_ONE_TEXT = re.compile(r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(.*\)|DATE")
# Errors of reading a certificate that does not have the form of its format.
_UNREADABLE = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, SqlglotError, SqlanonError)


@dataclass(frozen=True)
class ReceivedExport:
    """An export whose data files, or tables of a database, have the digests in its certificate.

    `content` are the certificate's members as they were read; nothing else about them has been checked. `called` is the
    export's name in messages, and `purpose` is the purpose of reading it.
    """

    called: str
    data: tuple[Path, ...]
    format: str
    kind: Format
    content: dict[str, object]
    purpose: str = "a check"

    @property
    def needs_reader(self) -> bool:
        """Whether the format reads the export on a separate connection."""
        return self.format not in READ

    @property
    def has_digests(self) -> bool:
        """Whether the certificate has digests of the data; a certificate inside a data file has none."""
        return bool({"files", "contents"} & self.content.keys())

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate. Raises UserError for a certificate in another format, and for members that the format does
        not have.
        """
        if self.content.get("format_version") != CERTIFICATE_VERSION:
            raise UserError(
                f"{self.called}: its certificate does not have the format {CERTIFICATE_VERSION}, which this sqlanon "
                "reads",
                hint="read it with the version of sqlanon that the certificate names, or with a newer one",
            )
        with self._understood():
            return certificate_of(self.content)

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except _UNREADABLE:
            raise UserError(
                f"{self.called}: its certificate lacks information that {self.purpose} needs",
                hint="ask the publisher to export it again with the same version of sqlanon",
            ) from None

    @cached_property
    def files(self) -> tuple[ExportFile, ...]:
        """The data files with the names of their tables and columns, in the certificate's order."""
        certificate = self.certificate
        with self._understood():
            return files_of(certificate, self.data)

    @cached_property
    def recorded(self) -> Recorded:
        """The certificate's record of the release whose rows are in the files.

        It has no labels of stored hierarchies, which may list values that the release does not show.
        """
        certificate, files = self.certificate, self.files
        with self._understood():
            policy = _policy(certificate)
            types = {fold(a.name): a.type for a in certificate.policy.attributes if a.type}
            return Recorded(
                name=certificate.release,
                policy=policy,
                tables=[
                    _typed(
                        [
                            RecordedColumn(part.name, part.reading, part.behind, part.levels or None)
                            for part in table.columns
                        ],
                        self.kind.read(file),
                        types,
                    )
                    for file, table in zip(files, certificate.all_tables, strict=True)
                ],
                types=types,
                hierarchies={fold(h.name): (definition_of(h), h.height) for h in certificate.policy.hierarchies},
                stored=frozenset(),
                withheld=certificate.rows.suppressed,
            )

    def model(self, source: Sequence[str]) -> ReleaseModel:
        """Returns the model of the release for estimates; queries may call the source by any of these names."""
        recorded = self.recorded
        with self._understood():
            return published(recorded, [*source, recorded.name])

    @cached_property
    def method(self) -> str:
        """The name of the method."""
        return self.certificate.method.name

    @cached_property
    def arguments(self) -> tuple[tuple[str, Value], ...]:
        """The arguments of the method, as in its statement."""
        return arguments_of(self.certificate.method.arguments)

    @cached_property
    def requirements(self) -> tuple[BoundRequirement, ...]:
        """The requirements of the policy, and the promises of the method."""
        policy = self.recorded.policy
        with self._understood():
            sensitive = [attribute.name for attribute in policy.all_having(Role.SENSITIVE)]
            return resolve_requirements(policy, sensitive, promised_by(self.method, self.arguments))

    @cached_property
    def unpublished(self) -> tuple[str, ...]:
        """The policy's quasi-identifiers and sensitive columns that no column of the file shows."""
        return tuple(unpublished(self.recorded))

    @cached_property
    def stated(self) -> dict[str, Measurement]:
        """The figures in the certificate, by the text of each requirement."""
        return {
            entry.requirement: Measurement(
                entry.question,
                ", ".join(entry.attributes) or None,
                number_of(entry.required),
                number_of(entry.achieved),
                entry.satisfied,
            )
            for entry in self.certificate.requirements
        }

    def require_consistent(self) -> None:
        """Raises PrivacyViolation for columns that do not follow from the policy and the method, or that are hidden."""
        recorded, _ = self.recorded, self.requirements
        with self._understood():
            other = unlike_attributes(self.certificate.policy.attributes, recorded.policy)
            tables = worded(self.method, self.arguments).tables
        if (name := hidden_column(recorded)) is not None:
            raise PrivacyViolation(f"{self.called}: its policy hides the column {name}, and it is published")
        if (why := other or unlike_release(recorded, tables)) is not None:
            raise PrivacyViolation(
                f"{self.called}: its certificate contradicts its policy: {why}",
                hint="ask the publisher for the export again; CHECK recomputes nothing from a contradictory "
                "certificate",
            )

    @contextmanager
    def opened(self, engine: Engine) -> Iterator[Engine]:
        """Yields a connection that reads the files: the user's connection, or another one that opens these files and
        nothing else.
        """
        if not self.needs_reader:
            yield engine
            return
        try:
            reader = self.kind.reopen(self.files, {})
        except EngineError:
            raise self._unreadable() from None
        try:
            yield reader
        finally:
            reader.connection.close()

    @contextmanager
    def tables(self, engine: Engine) -> Iterator[ExportedTables]:
        """Yields the rows of each file as temporary tables.

        Raises PrivacyViolation if a file has columns or a number of rows that differ from its certificate.
        """
        with self.opened(engine) as reader, reader.transaction(), TempTables(reader) as temp:
            try:
                tables = {
                    self._fragment(file): relation(temp.table("exported", self._rows(reader, file, table)))
                    for file, table in zip(self._with_columns(reader), self.recorded.tables, strict=True)
                }
            except EngineError:
                raise self._unreadable() from None
            for stated, table in zip(self.certificate.all_tables, tables.values(), strict=True):
                count = reader.rows(select(f.count(), of=table))[0][0]
                if count != stated.rows:
                    raise PrivacyViolation(
                        f"{self.called}: {stated.name} has {count} rows, and the certificate says {stated.rows}",
                        hint="use the files and the certificate of the same export",
                    )
            yield ExportedTables(reader, temp, self.recorded, tables)

    def _fragment(self, file: ExportFile) -> str:
        """Returns a table's name within the release; empty if the release has one table."""
        return file.table.removeprefix(f"{self.certificate.release}_") if self.certificate.tables else ""

    def _unreadable(self) -> PrivacyViolation:
        data = ", ".join(file.path.name for file in self.files)
        return PrivacyViolation(
            f"{data} cannot be read as the certificate says",
            hint="use the files and the certificate of the same export",
        )

    def _with_columns(self, engine: Engine) -> Sequence[ExportFile]:
        """Returns the files. Raises PrivacyViolation if the columns of a file differ from its certificate."""
        for file in self.files:
            stated = [name for name, _ in file.columns]
            header = self.kind.header(file) or [name for name, _ in engine.columns(self._as_stored(file))]
            # A stated type that the format lacks is not the type of the file's values.
            if list(header) != stated or any(self.kind.published_type(type_) != type_ for _, type_ in file.columns):
                raise PrivacyViolation(
                    f"{file.path.name} has other columns than its certificate says",
                    hint="use the files and the certificate of the same export",
                )
        return self.files

    def _as_stored(self, file: ExportFile) -> exp.Query:
        """Returns all columns of a file with the file's own types."""
        query = self.kind.read(file).copy()
        query.set("expressions", [exp.Star()])
        return query

    def _rows(self, engine: Engine, file: ExportFile, table: RecordedTable) -> exp.Query:
        """Returns the rows of a file in its own types, because different values could become one class in another type.

        Sensitive texts are cast to the source's type, because of its order, and numbers of rows are cast to numbers,
        because some formats have only texts. Raises PrivacyViolation for texts that the type does not write in this
        way.
        """
        policy = self.recorded.policy
        sensitive = {fold(a.name) for a in (*policy.all_having(Role.SENSITIVE), *policy.counted)}
        rows = subquery(self._as_stored(file), "file")
        stored = dict(engine.columns(select(exp.Star(), of=rows)))
        outputs: list[exp.Expr] = []
        changed: list[exp.Expr] = []
        for part in table.columns:
            is_text = fold(part.source) in sensitive and stored[part.name] == "VARCHAR"
            kind = self.recorded.types.get(fold(part.source)) if is_text else None
            kind = _KINDS.get(part.reading, None if kind == ENUM else kind)
            outputs.append(alias(cast(column(part.name), kind), part.name) if kind else column(part.name))
            if is_text and kind and _ONE_TEXT.fullmatch(kind):
                changed.append(_is_changed(part.name, kind))
        if changed and engine.rows(select(literal(1), of=rows, where=[or_(*changed)], limit=1)):
            raise PrivacyViolation(
                f"{file.path.name} has values of another type than its certificate says",
                hint="use the files and the certificate of the same export",
            )
        return select(*outputs, of=rows)


@dataclass(frozen=True)
class ExportedTables:
    """Temporary tables with the rows of an export, by fragment, on the connection `engine`."""

    engine: Engine
    temp: TempTables
    recorded: Recorded
    tables: dict[str, exp.Table]

    @cached_property
    def values(self) -> dict[str, BucketValues]:
        """The tables of values, by sensitive attribute; empty for a release of one table."""
        values: dict[str, BucketValues] = {}
        if len(self.tables) == 1:
            return values
        sensitive = [attribute.name for attribute in self.recorded.policy.having(Role.SENSITIVE)]
        for fragment, table in zip(self.tables, self.recorded.tables, strict=True):
            columns = [(part.name, part.source, part.reading) for part in table.columns]
            values |= values_of_table(fragment, columns, sensitive)
        return values

    def rows(self, requirements: Sequence[SqlRequirement], indexes: Sequence[int]) -> list[RowsOfRequirements]:
        """Returns the rows that answer these requirements, in the classes that the tables show."""
        policy = self.recorded.policy
        readings = {
            fragment: [(part.name, part.reading) for part in table.columns]
            for fragment, table in zip(self.tables, self.recorded.tables, strict=True)
        }
        if policy.related:
            names = tuple(a.name for a in policy.all_having(Role.SENSITIVE))
            return PeopleColumns(policy, readings, names).rows(self.tables, requirements, indexes)
        if self.values:
            rows = bucket_rows(readings)
            return list(rows_of_buckets(self.tables, requirements, indexes, self.values, rows=rows))
        return self._rows_of_one(requirements, indexes)

    def _rows_of_one(self, requirements: Sequence[SqlRequirement], indexes: Sequence[int]) -> list[RowsOfRequirements]:
        ((source, table),) = zip(self.tables.values(), self.recorded.tables, strict=True)
        policy = self.recorded.policy
        others = {fold(a.name) for a in policy.attributes if a.role in _NO_KEYS}
        buckets = [part.name for part in table.having(Reading.BUCKET)]
        keys = buckets or [part.name for part in table.columns if fold(part.source) not in others]
        sensitive = {
            attribute.name: column(part.name)
            for attribute in policy.counted
            for part in table.columns
            if fold(part.source) == fold(attribute.name)
        }
        types = dict(self.engine.columns(select(exp.Star(), of=source)))
        typed = [(name, types[name]) for name in keys]
        of_values = {name: types[part.name] for name, part in sensitive.items()}
        return rows_of_each(requirements, indexes, typed, of_values, lambda names: rows_of(source, names, sensitive))


def files_of(certificate: Certificate, data: Sequence[Path]) -> tuple[ExportFile, ...]:
    """Pairs the certificate's tables with data files or partition folders. Raises ValueError if they do not match."""
    partition = certificate.partitioned_by
    paths = data if partition is None else folders(data, partition)
    csv = COMMAS
    if certificate.csv is not None:
        csv = CsvFields(certificate.csv.delimiter, certificate.csv.quote)
        if csv.why_not:
            raise ValueError(csv.why_not[1])
    return tuple(
        ExportFile(path, table.name, tuple((part.name, part.type) for part in table.columns), partition, csv)
        for path, table in zip(paths, certificate.all_tables, strict=True)
    )


def folders(files: Sequence[Path], partition: Sequence[str]) -> tuple[Path, ...]:
    """Returns the folder of each table that is partitioned by these columns, in the order of the files."""
    return tuple(dict.fromkeys(file.parents[len(partition)] for file in files))


def _policy(certificate: Certificate) -> Policy:
    policy = policy_of(certificate.policy.statement)
    if certificate.policy.source == "query":
        # The certificate does not have the query, and its placeholder is not a name.
        return replace(policy, source=Source(query=""))
    return policy


def _typed(columns: Sequence[RecordedColumn], rows: exp.Query, types: dict[str, str]) -> RecordedTable:
    """Returns the table with the source's values in the source's types, because the format may lack these types."""
    outputs: list[exp.Expr] = []
    for part in columns:
        kind = types.get(fold(_valued(part)))
        as_it_is = kind is None or kind == ENUM or part.reading not in _VALUES
        typed = cast(column(part.name), kind or "VARCHAR")
        outputs.append(column(part.name) if as_it_is else alias(typed, part.name))
    return RecordedTable(columns, select(*outputs, of=subquery(rows, "file")))


def _valued(part: RecordedColumn) -> str:
    """Returns the source column whose values a published column has; for the end of a range, the column of
    the range.
    """
    return part.source.removesuffix(f"_{_ENDS[part.reading]}") if part.reading in _ENDS else part.source


def _is_changed(name: str, kind: str) -> exp.Expr:
    """Returns the condition that the text in a column changes if it is cast to the type `kind` and back."""
    text, expected = column(name), as_text(cast(column(name), kind))
    if kind.startswith("DECIMAL"):
        return exp.NEQ(this=_without_last_zeros(text), expression=_without_last_zeros(expected))
    return exp.NEQ(this=text, expression=expected)


def _without_last_zeros(text: exp.Expr) -> exp.Expr:
    """Removes the zeros at the end of a decimal number's text, because PostgreSQL writes 0.5 for a DECIMAL of 0.50."""
    return f.built_in("regexp_replace", text, literal(r"(\.[0-9]*[1-9])0+$|\.0+$"), literal(r"\1"))

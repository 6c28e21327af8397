"""The text of a script: the comments, the statements, and the order of both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon import __version__
from sqlanon.assets import listing, read
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.values import QualifiedName, written
from sqlanon.errors import UserError
from sqlanon.export.warehouses.listed_tables import ListedTable, RegionMap, filled, listed_rows, typed_rows
from sqlanon.export.warehouses.plan import ReleasePlan
from sqlanon.export.warehouses.steps import check_steps, release_steps
from sqlanon.export.warehouses.translation import CANDIDATE, SOURCE, Dialect, ScriptStep, script_sql, translated
from sqlanon.sources.target_names import fragment_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import or_
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import create_temporary, drop
from sqlanon.sql.build.sql_files import filled_query, filled_select
from sqlanon.sql.release.recode import Recoding

# The script's comments for a reader before it runs.


# Characters that end a line of SQL in some client, and with it a comment.
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")

_PROMISE = (
    "",
    "The script withholds the rows of classes that do not satisfy the requirements when it runs, however many these",
    "are, and rows with values that a hierarchy does not list. It then checks the requirements again, on the rows to",
    "be published. If they are not satisfied, it ends with an error, and nothing is published.",
)
_REGIONS_PROMISE = (
    "",
    "The script withholds the rows in no region, and the rows of regions that do not satisfy the requirements when",
    "it runs, however many these are. It then checks the requirements again, on the rows to be published. If they",
    "are not satisfied, it ends with an error, and nothing is published.",
)
_BUCKETS_PROMISE = (
    "",
    "The script assigns all rows to buckets by random numbers of the warehouse, so its buckets differ from those of",
    "the release. The quasi-identifiers stay unchanged: they show who is in the table, but not which sensitive value",
    "of a bucket belongs to whom. The script then checks the requirements on the tables that it has written, and",
    "compares these with the source. If a check fails, it ends with an error, and nothing is published.",
    "",
    "Publish only one assignment of the same rows to buckets, this one or the release's: a reader who has both knows",
    "that a row has only the values that both of its buckets have.",
)
_FRAGMENTS_PROMISE = (
    "",
    "The script publishes all rows, each table in its own order: nothing shows which rows of two tables belong",
    "together. It compares the tables with the source. If they have other rows, it ends with an error, and nothing",
    "is published.",
)
_STAGED = (
    "",
    "The steps of the script are tables of the staging schema. They hold rows of the source, so nobody else may read",
    "that schema. The script drops them at its end, or, if it ended early, when it runs again. Do not run it twice",
    "at once.",
)


def comment(*lines: str) -> str:
    """Writes lines of a script as comments, even if they have special characters."""
    return "\n".join(("-- " + _BREAKS.sub(" ", line)).rstrip() for line in lines)


def header(plan: ReleasePlan, dialect: Dialect, source: QualifiedName, target: QualifiedName) -> str:
    """Describes the script: the tables that it reads and writes, and the source's values in its text."""
    return comment(*_lines(plan, dialect, source, target))


def _lines(plan: ReleasePlan, dialect: Dialect, source: QualifiedName, target: QualifiedName) -> Iterator[str]:
    release = plan.release
    yield f"{target}: the release {release.name} of the policy {release.policy}, made in {dialect.title}."
    yield f"Written by sqlanon {__version__}."
    yield ""
    yield f"Reads     {source}"
    tables = [fragment_name(target, publication.fragment) for publication in plan.publications]
    yield f"Writes    {' and '.join(map(str, tables))}, which must not exist yet"
    confidential = [f"no table with {' and '.join(together)}" for together in plan.policy.confidential]
    yield from _listed("Requires ", confidential or [str(requirement) for requirement in plan.requirements])
    if plan.regions is not None:
        by = ", ".join(bound.column for bound in plan.bound.quasi_identifiers)
        yield f"Regions   {len(plan.regions.regions.rows):,}, by {by}"
        yield f"Method    {_method(plan)}, which cut them from {release.source_rows:,} rows"
        yield from _REGIONS_PROMISE
        yield from _regions_kept(plan, plan.regions)
    elif plan.fragments:
        yield f"Method    {_method(plan)}"
        yield from _FRAGMENTS_PROMISE
    elif plan.buckets is not None:
        yield f"Method    {_method(plan)}"
        yield from _BUCKETS_PROMISE
    else:
        yield from _listed("Levels   ", [_level(recoding) for recoding in plan.recodings])
        yield f"Method    {_method(plan)}, which chose the levels from {release.source_rows:,} rows"
        yield from _PROMISE
    if plan.mappings:
        yield ""
        yield "The script holds the values that these hierarchies list, which may be values of the source: keep it as"
        yield f"you keep the source. {', '.join(f'{m.hierarchy} ({len(m.rows):,})' for m in plan.mappings.values())}"
    if dialect.draw is None:
        yield ""
        yield f"Tables of {dialect.title} have no order, so the rows get none."
    if dialect.is_staged:
        yield from _STAGED


def _regions_kept(plan: ReleasePlan, regions: RegionMap) -> Iterator[str]:
    """Yields sentences for a script's header about the source's values in it: ends of ranges, and values of ranked
    columns.
    """
    quasi = plan.bound.quasi_identifiers
    counts = [f"{len(table.rows):,} values of {quasi[index].column}" for index, table in regions.ranks.items()]
    yield ""
    yield f"The script holds values of the source, so keep it as you keep the source: the ends of {_regions(regions)}"
    if counts:
        yield f"and, for the order of their hierarchies, {', '.join(counts)}."


def _regions(regions: RegionMap) -> str:
    count = len(regions.regions.rows)
    return f"{count:,} region{'' if count == 1 else 's'}{'' if regions.ranks else '.'}"


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"{title if index == 0 else ' ' * len(title)} {line}"


def _level(recoding: Recoding) -> str:
    bound = recoding.bound
    using = f" of {bound.hierarchy.name}" if bound.hierarchy else ""
    comment_text = "the value itself" if recoding.level == 0 else "*" if recoding.level == bound.height else ""
    return f"{bound.column} {recoding.level}/{bound.height}{using}" + (f": {comment_text}" if comment_text else "")


def _method(plan: ReleasePlan) -> str:
    arguments = ", ".join(f"{name} => {written(value)}" for name, value in plan.release.method_arguments)
    return plan.release.method + (f"({arguments})" if arguments else "")


# Steps have a prefix that no table of the user's should have.
_PREFIX = "sqlanon_"
_LOWER = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class Locations:
    """The tables of a script: the source, the release, and `staging`, the schema of the intermediate tables."""

    source: QualifiedName
    target: QualifiedName
    staging: QualifiedName | None = None


def script_of(plan: ReleasePlan, dialect: Dialect, locations: Locations) -> str:
    """Returns the script that makes a release again.

    Raises UserError, which names the part, for a part that the dialect may answer differently than DuckDB, and for a
    missing or unusable name or staging schema.
    """
    targets = [fragment_name(locations.target, publication.fragment) for publication in plan.publications]
    _require_locations(dialect, locations, targets)
    for publication in plan.publications:
        _require_short(dialect, [name for name, _ in publication.columns])
    return "\n\n".join(part for part in _Script(plan, dialect, locations).parts() if part) + "\n"


def _require_locations(dialect: Dialect, locations: Locations, targets: Sequence[QualifiedName]) -> None:
    for option, name in (("source", locations.source), *(("target", target) for target in targets)):
        if not all(name.parts):
            raise UserError(f"a part of the name {name} is empty", hint=f"write --{option} schema.table")
        if dialect.has_search_path and len(name.parts) < 2:
            raise UserError(
                f"{name} has no schema, and a script for {dialect.title} looks into no search path",
                hint=f"write --{option} schema.{name}",
            )
        _require_short(dialect, name.parts)
        if len(name.parts) > 3:
            raise UserError(f"{name} has too many parts", hint="write table, schema.table or database.schema.table")
        if name.name.lower().startswith(_PREFIX):
            raise UserError(f"{name}: names that begin with {_PREFIX} are those of the script's own tables")
    if locations.source in targets:
        raise UserError(f"{locations.source} is the source and the release", hint="name another table with --target")
    _require_staging(dialect, locations)


def _require_staging(dialect: Dialect, locations: Locations) -> None:
    """Raises UserError if a script needs a schema and none is given, or the reverse, and if the schema is the schema of
    the release.
    """
    if dialect.is_staged and locations.staging is None:
        raise UserError(
            f"{dialect.title} has no temporary tables, and rows are written before they are checked",
            hint="name a schema that nobody else reads: --staging private",
        )
    if locations.staging is not None and locations.staging.parts == locations.target.parts[:-1]:
        raise UserError(
            f"{locations.staging} is the schema of the release, which readers see",
            hint="name another one with --staging",
        )
    if locations.staging is not None and not dialect.is_staged:
        raise UserError(f"--staging is for dialects without temporary tables, and {dialect.title} has those")


def _require_short(dialect: Dialect, names: Sequence[str]) -> None:
    """Raises UserError for a name that the warehouse would shorten or refuse."""
    for name in names:
        if dialect.longest_name and len(name.encode()) > dialect.longest_name:
            raise UserError(f"{name}: names in {dialect.title} have at most {dialect.longest_name} bytes")


@dataclass(frozen=True)
class _Script:
    plan: ReleasePlan
    dialect: Dialect
    locations: Locations

    def parts(self) -> Iterator[str]:
        """Yields the parts of the text; empty lines separate them."""
        plan = self.plan
        steps, checks = release_steps(plan), check_steps(plan)
        names = [SOURCE, *(listed.name for listed in plan.listed), *(step.name for step in (*steps, *checks))]
        yield self._fixed("first")
        yield header(plan, self.dialect, self._folded(self.locations.source), self._folded(self.locations.target))
        yield self._fixed("begin")
        yield from self._source_columns()
        for listed in plan.listed:
            yield from self._listed(listed)
        yield from self._step(self._source(), names)
        for step in steps:
            yield from self._step(step, names)
        against = "against those of the source" if plan.hides_order else "and of nothing else"
        yield comment(f"The check: of the rows that were written, {against}.")
        for step in checks:
            yield from self._step(step, names)
        if self.dialect.is_staged:
            yield "\n".join(self._views())
        yield self._fixed("check")
        yield from self._publication()
        yield comment("How many rows there were, and how many are published.")
        yield self._sql(self._counts())
        yield comment("What the script made for itself.")
        columns = [SOURCE_COLUMN] if self.dialect.has_search_path and plan.needed else []
        dropped = (*columns, *(listed.listed_name for listed in plan.listed), *names)
        yield "\n".join(self._sql(self._drop(name)) for name in dropped)
        yield self._fixed("end")

    def _sql(self, tree: exp.Expr) -> str:
        return script_sql(tree, self.dialect) + ";"

    def _fixed(self, name: str) -> str:
        """Returns a part of the script that is the same for all releases; empty if the dialect has no such part."""
        folder, file = ("warehouses", self.dialect.name), f"{name}.sql"
        return read("sql", *folder, file).rstrip() if file in listing("sql", *folder) else ""

    def _folded(self, name: QualifiedName) -> QualifiedName:
        return QualifiedName(tuple(map(self._spelled, name.parts)))

    def _spelled(self, name: str) -> str:
        """Returns a name as the warehouse stores it: in upper case if it folds unquoted names to upper case."""
        return name.upper() if self.dialect.folds_names and _LOWER.fullmatch(name) else name

    def _table(self, name: QualifiedName, as_: str | None = None) -> exp.Table:
        return relation(self._folded(name), as_=as_)

    def _source(self) -> ScriptStep:
        """Returns the step that reads the needed columns in their types; texts are compared by their bytes."""
        query = select(of=self._table(self.locations.source, as_="original"))
        for bound in self.plan.needed:
            value = column(self._spelled(bound.column), "original")
            text = bound.published_type == "VARCHAR"
            typed = self.dialect.by_bytes(value) if text else self.dialect.typed(value, bound.published_type)
            extend(query, alias(typed, bound.column))
        if not query.selects:
            extend(query, alias(literal(1), "row"))
        return ScriptStep(SOURCE, query, "The source: read once, so that all steps see the same rows.")

    def _source_columns(self) -> Iterator[str]:
        """Yields statements of a script that fail if a column of the source has changed since the release was made."""
        comment_text = comment("The source has the columns that are read, and a text where the release has one.")
        if self.dialect.has_search_path:
            query = source_columns(self.locations.source, self.plan.needed)
            if self.plan.needed:
                yield comment_text + "\n" + "\n".join(map(self._sql, self._made(SOURCE_COLUMN, query)))
                yield self._fixed("columns")
        elif self.dialect.is_staged:
            texts = [self._spelled(b.column) for b in self.plan.needed if b.published_type == "VARCHAR"]
            if checked := requirements_of_texts(self._table(self.locations.source, as_="original"), texts):
                yield comment_text + "\n" + self._sql(checked)

    def _listed(self, listed: ListedTable) -> Iterator[str]:
        """Yields the statements of a table whose rows are in the script: first as texts, then in their types."""
        table, comment_text = self._step_table(listed.listed_name), comment(listed.comment)
        if self.dialect.is_staged:
            made = self._made(listed.listed_name, listed_rows(listed, self.dialect))
            yield comment_text + "\n" + "\n".join(map(self._sql, made))
        else:
            first, *others = map(self._sql, filled(table, listed, self.dialect))
            yield comment_text + "\n" + first
            yield from others
        yield "\n".join(map(self._sql, self._made(listed.name, typed_rows(table, listed, self.dialect))))

    def _step(self, step: ScriptStep, names: list[str]) -> Iterator[str]:
        query = step.query
        if step.name != SOURCE:
            query = translated(self._prefixed(query, names), self.dialect)
        if step.name == "recoded" and self.plan.recodings:
            self._compare_by_bytes(query)
        if step.drawn:
            assert isinstance(query, exp.Select)
            extend(query, alias(self._deal(), step.drawn))
        comment_text = comment(step.comment, *(f"  {line}" for line in step.about)) + "\n" if step.comment else ""
        yield comment_text + "\n".join(map(self._sql, self._made(step.name, query)))

    def _compare_by_bytes(self, query: exp.Query) -> None:
        """Changes a query so that its computed labels are compared by their bytes.

        The collation of new columns may treat different texts as equal.
        """
        if not self.dialect.collates:
            return
        for output in query.selects:
            if output.alias.startswith("label_") and isinstance(output, exp.Alias) and self._is_text(output.alias):
                output.set("this", self.dialect.by_bytes(output.this))

    def _is_text(self, label: str) -> bool:
        recoding = self.plan.recodings[int(label.removeprefix("label_"))]
        return recoding.level > 0

    def _made(self, name: str, query: exp.Query) -> Iterator[exp.Expr]:
        """Yields the statements of a script that create the table of a step from a query."""
        if self.dialect.is_staged:
            yield self._drop(name)
            yield self._permanent(self._step_table(name), query)
            return
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        yield exp.Create(
            kind="TABLE",
            this=self._step_table(name),
            expression=query,
            properties=temporary,
            replace=self.dialect.replaces,
        )
        if self.dialect.analyzes:
            yield exp.Analyze(tables=[self._step_table(name)])

    def _permanent(self, table: exp.Table, query: exp.Query) -> exp.Create:
        """Builds the statement of a permanent table; in Spark as Parquet, because a text format could change rows."""
        created = exp.Create(kind="TABLE", this=table, expression=query)
        if self.dialect.is_staged:
            created.set("properties", exp.Properties(expressions=[exp.FileFormatProperty(this=exp.var("PARQUET"))]))
        return created

    def _drop(self, name: str) -> exp.Drop:
        return drop("TABLE", self._step_table(name), exists=True)

    def _step_table(self, name: str, as_: str | None = None) -> exp.Table:
        """Returns the table of a step: in the staging schema if there are no temporary tables."""
        schema = self._folded(self.locations.staging).parts if self.locations.staging else ()
        return relation((*schema, _PREFIX + name), as_=as_)

    def _views(self) -> Iterator[str]:
        """Yields the views that the check reads, under names without the staging schema."""
        for name in (CANDIDATE, "check_row", "check_violation"):
            query = select(exp.Star(), of=self._step_table(name))
            yield self._sql(create_temporary("VIEW", _PREFIX + name, query, replace=True))

    def _deal(self) -> exp.Expr:
        """Builds a random number that nobody can reproduce, to assign rows to buckets.

        Raises UserError if the dialect has no such number, or if its tables have no order.
        """
        if self.dialect.deal is None:
            why = "its random numbers can be drawn again"
            if self.dialect.draw is None:
                why = "its tables have no order, and rows that lie as they were read may tell which are one"
            raise UserError(
                f"{self.dialect.title} cannot make this release: {why}",
                hint="export the release, and load it there",
            )
        return self.dialect.deal()

    def _publication(self) -> Iterator[str]:
        """Yields the statements that write the published columns, each table in its own random order."""
        comment_text = "The release: in a random order, and empty if somebody has gone on after the check has failed."
        for publication in self.plan.publications:
            query = select(of=self._step_table(publication.step))
            for name, is_text in publication.columns:
                value: exp.Expr = column(name)
                if self.dialect.by_default and is_text:
                    value = self.dialect.by_default(value)
                extend(query, alias(value, self._spelled(name)))
            violating, checked, candidates = (
                subquery(select(f.count(), of=self._step_table(name)))
                for name in ("check_violation", "check_row", CANDIDATE)
            )
            query = extend(query, where=[violating.eq(literal(0)), checked.eq(candidates)])
            draw = self._deal() if self.plan.hides_order else self.dialect.draw and self.dialect.draw()
            if draw is not None:
                query = extend(query, order_by=[exp.Ordered(this=draw)])
            target = fragment_name(self.locations.target, publication.fragment)
            yield comment(comment_text) + "\n" + self._sql(self._permanent(self._table(target), query))

    def _counts(self) -> exp.Query:
        written = fragment_name(self.locations.target, self.plan.publications[0].fragment)
        text = """
            SELECT (SELECT count(*) FROM "{source}") AS source_rows, (SELECT count(*) FROM "{target}") AS released_rows
        """
        return filled_query(text, names={"source": self._step_table(SOURCE), "target": self._table(written)})

    def _prefixed(self, query: exp.Query, names: list[str]) -> exp.Query:
        """Replaces names of steps in the query by tables of the script; steps inside the query keep their names."""
        inner_names = {cte.alias for cte in query.find_all(exp.CTE)}
        for table in list(query.find_all(exp.Table)):
            if table.name in names and table.name not in inner_names:
                table.replace(self._step_table(table.name, as_=table.alias_or_name))
        return query


SOURCE_COLUMN = "source_column"
_TEXT = "VARCHAR"
# PostgreSQL's types of texts; a type of an extension or a domain may compare differently.
_POSTGRES_TEXTS = ("text", "character varying", "character")
_SPARK_TEXTS = ("string", "varchar", "char")


def source_columns(source: QualifiedName, needed: Sequence[BoundAttribute]) -> exp.Select:
    """Returns, for PostgreSQL, a query of the name of each needed column, and whether it fits.

    The name of a missing column may be a function of whole rows. A text column must be a text column there, because
    equal values of another type may have different texts, such as the numbers 1 and 1.0.
    """
    rows = [exp.Tuple(expressions=[literal(b.column), literal(b.published_type == _TEXT)]) for b in needed]
    text = """
        SELECT expected.name, (
          SELECT count(*) FROM pg_catalog.pg_attribute AS known
          WHERE known.attrelid = TO_REGCLASS($table) AND known.attname = expected.name AND known.attnum > 0
            AND NOT known.attisdropped
            AND (NOT expected.is_text OR FORMAT_TYPE(known.atttypid, NULL) IN ($texts))
        ) = 1 AS fits
        FROM "{expected}" AS expected(name, is_text)
    """
    table = ".".join(identifier(part).sql(dialect="postgres") for part in source.parts)
    return filled_select(text, names={"expected": exp.Values(expressions=rows)}, table=table, texts=_POSTGRES_TEXTS)


def requirements_of_texts(source: exp.Table, names: Sequence[str]) -> exp.Select | None:
    """Returns, for Spark, a query that fails if a text column of the release is not text in the source.

    Returns None if there are no such columns. Spark itself reports missing columns.
    """
    if not names:
        return None
    checks = []
    for name in names:
        kind = f.call("TYPEOF", column(name, "original"))
        is_text = or_(*(exp.Left(this=kind.copy(), expression=literal(len(t))).eq(literal(t)) for t in _SPARK_TEXTS))
        checks.append(f.call("ASSERT_TRUE", is_text, literal("a column that is a text in the release is none there")))
    return select(*checks, of=source, limit=1)

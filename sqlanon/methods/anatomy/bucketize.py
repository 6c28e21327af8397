"""Assigns rows to buckets that meet every requirement.

The groups of `assign_groups` are l-diverse in one sensitive attribute by construction. If more is required, groups are
merged, two, four, eight at a time, wherever a bucket violates. A union of satisfying buckets satisfies, except for
delta-disclosure that ignores absent values. Merging ends at the latest with the region as one bucket, which is known to
satisfy; rows that need no merging stay in small buckets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import exp as e_to
from math import log

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.methods.anatomy import assign_groups
from sqlanon.methods.anatomy.tables import Bucketization
from sqlanon.methods.shared.bucket_tables import carried, carried_name, code_name
from sqlanon.methods.shared.wording import frequent, greatest_met, too_frequent_in
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, by_attribute
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement, least_rows

# Whether a table can be divided into l-diverse buckets at all, and the reason if not.
#
# A union of l-diverse buckets is l-diverse, in each of the variants. So there are such
# buckets iff the whole table is one (Xiao and Tao 2006, for the share of one value).


# Logarithms are rounded, as in the model's own text.
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Shortfall:
    """The reason why the values of an attribute allow no l-diverse buckets, as parts of an error message.

    `before` and `after` are the words around the name of the most frequent value. `largest` is the largest l that the
    values allow, at least 1.
    """

    before: str
    after: str
    largest: int


def shortfall(engine: Engine, codes: str, variant: str, wanted: int, c: Decimal) -> Shortfall | None:
    """Returns the reason why the values of an attribute allow no l-diverse buckets, None if they allow some.

    `codes` is a table with the number of rows n of each value.
    """
    rows, values, most, entropy = engine.rows(query_file("anatomy", "summary", tables={"codes": codes}))[0]
    if not rows:
        return None
    rows, values, most = int(rows), int(values), int(most)
    if variant == "probabilistic":
        allowed = rows // wanted
        after = f", {most - allowed} more than the {allowed} that l => {wanted} allows"
        return Shortfall("its", after, rows // most) if most > allowed else None
    if variant == "distinct":
        before = f"it has {values} different values, and its"
        return Shortfall(before, "", values) if values < wanted else None
    if variant == "entropy":
        after = f", so that its values are as diverse as {e_to(float(entropy)):.3f} of equal number"
        largest = values if most * values == rows else _largest_by_entropy(float(entropy))
        return Shortfall("its", after, largest) if largest < wanted else None
    return _recursive(engine, codes, rows, most, wanted, Fraction(c))


def _largest_by_entropy(entropy: float) -> int:
    """The largest l whose logarithm does not exceed the entropy, with a tolerance for rounding."""
    near = round(e_to(entropy))
    return near if log(near) <= entropy - _TOLERANCE else near - 1


def _recursive(engine: Engine, codes: str, rows: int, most: int, wanted: int, c: Fraction) -> Shortfall | None:
    """Returns the reason why values fail recursive (c,l)-diversity, r_1 < c (r_l + ... + r_m); None if they satisfy it.

    r_i is the number of rows of the i-th most frequent value; `most` is r_1, and `rows` counts all rows.
    """
    rest = [rows, *(rows - int(top) for (top,) in engine.rows(_tops(codes, wanted)))]
    limits = [c * left for left in rest]
    if len(rest) >= wanted and most < limits[wanted - 1]:
        return None
    largest = sum(1 for limit in limits[:wanted] if most < limit)
    allowed = limits[wanted - 1] if len(rest) >= wanted else Fraction(0)
    return Shortfall("its", f", and fewer than {float(allowed):g} would be few enough", largest)


def _tops(codes: str, most: int) -> exp.Query:
    """SELECT of the rows of the most frequent value, of the two most frequent, ..., of the `most` most frequent."""
    text = """
        SELECT sum(n) OVER (ORDER BY n DESC NULLS LAST, code ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS top
        FROM codes
        ORDER BY top ASC NULLS LAST LIMIT $most
    """
    return filled_query(text, tables={"codes": codes}, most=most)


class Dealing:
    """The rows of a policy's source, with numbered sensitive values, and their assignment to buckets.

    Buckets have to meet all `requirements`; the method itself guarantees the requirements in `promised`. `temp`
    makes temporary tables and views.
    """

    def __init__(
        self,
        engine: Engine,
        policy: BoundPolicy,
        requirements: Sequence[BoundRequirement],
        promised: Sequence[BoundRequirement],
        background: Background,
        temp: TempTables,
    ) -> None:
        self._engine = engine
        self._policy = policy
        self._requirements = requirements
        self._promised = promised
        self._background = background
        self._temp = temp
        source = relation(policy.relation)
        coded = [(b, temp.table("codes", assign_groups.value_codes(b, source.copy()))) for b in policy.sensitive]
        # The attribute with the most frequent value is the hardest to assign, and comes first.
        coded.sort(key=lambda pair: -self._number(select(f.max(column("n")), of=relation(pair[1]))))
        self._sensitive: list[BoundAttribute] = [bound for bound, _ in coded]
        self._codes = [table for _, table in coded]

    def require_feasible(self, variant: str, l: int, c: Decimal) -> None:  # noqa: E741 - the papers' name
        """Raises PrivacyViolation unless all rows as one bucket meet every requirement. If they do not, no buckets
        do.
        """
        names = [bound.column for bound in self._sensitive]
        rows = [assign_groups.whole_rows(table, name) for table, name in zip(self._codes, names, strict=True)]
        if not self._any(self._broken(rows)):
            return
        # If the policy requires too much, no l of the method helps, so the error names none.
        of_policy = [bound for each in self._policy.policy.requirements for bound in bind_requirement(each, names)]
        others = [
            index
            for index, requirement in enumerate(self._requirements)
            if requirement in of_policy or requirement not in self._promised
        ]
        if unmet := [index for index in others if self._any(self._broken(rows, [index]))]:
            raise self._violation(unmet)
        raise self._too_alike(variant, l, c)

    def _too_alike(self, variant: str, l: int, c: Decimal) -> PrivacyViolation:  # noqa: E741
        """The error for values that allow no l-diverse buckets. It names the first such column, and the largest l that
        all columns allow.
        """
        shortfalls = [(b, shortfall(self._engine, table, variant, l, c)) for b, table in self._columns()]
        short = [(bound, why_not) for bound, why_not in shortfalls if why_not is not None]
        if not short:
            return self._violation(range(len(self._requirements)))
        bound, why = short[0]
        value = frequent(self._engine, self._policy, [bound.column])
        assert value is not None
        largest = min(why_not.largest for _, why_not in short)
        hint = f"l => {largest} is the largest that works"
        if largest < 2:
            hint = "no l above 1 works: the values of this column are too much alike"
        return PrivacyViolation(
            f"{bound.column} cannot be {l}-diverse: {why.before} most frequent value{value.share}{why.after}; "
            "nothing was published",
            hint=hint,
        )

    def deal(
        self, regions: str | None, count: int, least: int, different: int | None, words: Mapping[str, str]
    ) -> Bucketization:
        """Assigns rows to buckets, each within a region of the table `regions`, with at least `least` rows if possible.

        `count` is the number of regions. `different` is the l of distinct l-diversity, for which a bucket may repeat
        frequent values; else None. `words` has the tables of the columns that are encoded as words.
        """
        temp, engine = self._temp, self._engine
        rows, counts = self._drawn(regions, words)
        groups = temp.table(
            "groups", assign_groups.groups(counts, max(least, least_rows(self._requirements)), different)
        )
        columns = [*map(code_name, range(len(self._codes)))]
        columns += map(carried_name, range(len(carried(self._policy))))
        starts = temp.table("starts", assign_groups.starts(counts, groups))
        in_slots = self._in_slots(rows, starts, columns)
        slots = single = self._slots(in_slots, groups)
        once = self._once(groups)
        if not self._by_theorem(once, different):
            slots = self._merged(in_slots, slots, groups)
        numbers = self._numbers(slots)
        if slots != single:
            numbers = temp.rows("all_numbers", assign_groups.all_numbers(slots, numbers))
        in_buckets = temp.rows("rows_in_buckets", assign_groups.rows_in_buckets(in_slots, numbers, columns))
        sizes = assign_groups.sizes_of_groups(groups) if slots == single else assign_groups.sizes(in_buckets)
        number, smallest, largest, total = map(int, engine.rows(sizes)[0])
        codes = tuple((bound.column, table) for bound, table in zip(self._sensitive, self._codes, strict=True))
        once = once and slots == single and len(codes) == 1
        return Bucketization(in_buckets, codes, number, smallest, largest, count, total, once=once, words=tuple(words))

    def _drawn(self, regions: str | None, words: Mapping[str, str]) -> tuple[str, str]:
        """Makes two tables, of `sorted_rows` and of `value_counts`, and returns their names.

        Rows with equal values are in random order, and so are the values. Reading the row numbers of a sorted table
        takes DuckDB half the time of counting rows value by value.
        """
        temp, drawn = self._temp, (self._policy, self._sensitive, self._codes, regions)
        with registered(self._engine, "random_draw") as draw:
            rows = temp.table("sorted_rows", assign_groups.sorted_rows(*drawn, draw, words))
            of_all = assign_groups.value_counts_of_all(self._codes[0], draw)
            of_regions = None if regions is None else assign_groups.value_counts(rows, draw)
            return rows, temp.table("value_counts", of_regions or of_all)

    def _in_slots(self, rows: str, starts: str, columns: Sequence[str]) -> str:
        """Makes a view of the rows with their slots; returns its name."""
        # A view, because rows are wide, and are read only once if no groups are merged.
        return self._temp.view("rows_in_slots", assign_groups.rows_in_slots(rows, starts, columns, self._first(rows)))

    def _slots(self, in_slots: str, groups: str) -> str:
        """The table of the slots, each a bucket of its own."""
        return self._temp.table("slots", assign_groups.slots(groups))

    def _numbers(self, slots: str) -> str:
        """The table of each bucket's first slot and random number."""
        with registered(self._engine, "random_draw") as draw:
            return self._temp.table("numbers", assign_groups.bucket_numbers(slots, draw))

    def _first(self, table: str) -> int:
        """The number of a table's first row. Raises InternalError unless the rows have consecutive numbers."""
        first, numbers, rows = map(int, self._engine.rows(assign_groups.numbers_of(table))[0])
        if rows and numbers != rows:
            raise InternalError("the rows of a temporary table are not numbered one after the other")
        return first

    def _once(self, groups: str) -> bool:
        """Whether no group repeats a value of the first attribute, because no value has more rows than there are
        groups.
        """
        often = column("most") > column("groups")
        return not self._number(select(f.count(), of=relation(groups), where=[often]))

    def _by_theorem(self, once: bool, different: int | None) -> bool:
        """Whether groups satisfy all requirements by construction, because the requirements are a size and the
        diversity of one attribute.

        A value with at most g rows is in no group twice. Distinct l-diversity follows from the number of groups.
        """
        least = least_rows(self._requirements)
        others = [r for r in self._requirements if r not in self._promised and not r.satisfied_by(least)]
        return not others and len(self._sensitive) == 1 and (different is not None or once)

    def _merged(self, in_slots: str, slots: str, groups: str) -> str:
        """Merges groups until no bucket violates a requirement; returns the name of the table of slots."""
        tallies = [self._temp.rows("tally", assign_groups.tally(in_slots, index)) for index in range(len(self._codes))]
        chunks = self._number(select(f.max(column("groups")), of=relation(groups)))
        while True:
            rows = [
                self._class_rows(tally, slots, table, bound.column)
                for tally, table, bound in zip(tallies, self._codes, self._sensitive, strict=True)
            ]
            broken = self._temp.rows("violating", self._broken(rows))
            if not self._number(select(f.count(), of=relation(broken))):
                return slots
            if chunks <= 1:
                raise self._violation(range(len(self._requirements)))
            chunks = (chunks + 1) // 2
            slots = self._temp.rows("slots", assign_groups.merged(slots, broken))

    def _class_rows(self, tally: str, slots: str, codes: str, attribute: str) -> Rows:
        """Rows with the values of one attribute, whose classes are the buckets."""
        return assign_groups.class_rows(tally, slots, codes, attribute)

    def _broken(self, rows: Sequence[Rows], among: Collection[int] | None = None) -> exp.Query:
        """SELECT of class_id: the buckets that violate a requirement.

        `rows` has the rows by bucket and value for each sensitive attribute. `among` are the indexes of the
        requirements to check, by default all.
        """
        names = [bound.column for bound in self._sensitive]
        violating: exp.Query | None = None
        for all_indexes, attribute_rows in zip(by_attribute(self._requirements, names).values(), rows, strict=True):
            indexes = [index for index in all_indexes if among is None or index in among]
            if not indexes:
                continue
            part = self._broken_of([self._requirements[index] for index in indexes], indexes, attribute_rows)
            violating = union_all([violating, part], distinct=True) if violating else part
        assert violating is not None
        return violating

    def _broken_of(self, requirements: Sequence[BoundRequirement], indexes: Sequence[int], rows: Rows) -> exp.Query:
        ranges = {now: self._background.ranges[p] for now, p in enumerate(indexes) if p in self._background.ranges}
        background = replace(self._background, ranges=ranges)
        steps = [*relations_of(rows, requirements, background), *sensitive_values(requirements)]
        query = filled_query("SELECT class_id FROM violation", tables={"violation": violations(requirements)})
        return filled_query("SELECT class_id AS class_id FROM broken", tables={"broken": with_steps(query, steps)})

    def _violation(self, indexes: Iterable[int]) -> PrivacyViolation:
        """The error for requirements, given by their indexes, that are not met even if all rows are one bucket."""
        unmet = [self._requirements[index] for index in indexes]
        models = ", ".join(dict.fromkeys(map(str, unmet)))
        values = too_frequent_in(self._engine, self._policy, unmet)
        greatest = greatest_met(self._engine, self._policy, unmet)
        return PrivacyViolation(
            f"{models} cannot be met: not even all rows as one bucket do{values}; nothing was published",
            hint=f"ask for less: {greatest}" if greatest else "ask for less",
        )

    def _columns(self) -> list[tuple[BoundAttribute, str]]:
        """The sensitive attributes with the tables of their values."""
        return list(zip(self._sensitive, self._codes, strict=True))

    def _any(self, query: exp.Query) -> bool:
        return bool(self._number(select(f.count(), of=subquery(query, "broken"))))

    def _number(self, query: exp.Query) -> int:
        return int(self._engine.rows(query)[0][0] or 0)

"""MEASURE release WITH FIGURES (suda): which columns make rows special, by minimal sample uniques.

Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem (2002); Manning, Haglin
and Keane, A recursive search algorithm for statistical disclosure assessment (2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, prod

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.values import UNNAMED, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, case, cast, exists, filtered, infix, is_not_null, not_, window
from sqlanon.sql.build.names import alias, column, literal, relation

_NAME = "suda"
# So many columns are looked at without a size, and sets of so many columns with one.
_MOST_COLUMNS, _MOST_SIZE = 12, 6
# So many sets of columns at most: each is a grouping of all rows.
_MOST_SETS = 2**_MOST_COLUMNS
_SCORES = ("elliot", "ihsn")
_OWN = "own"
# A quasi-identifier that each row shows by itself.
_OF_A_ROW = (Reading.EXACT, Reading.LABEL, Reading.RANGE, Reading.CENTROID)
_ENDS = (Reading.LOWER_BOUND, Reading.UPPER_BOUND)
_ROW, _SET, _SCORE = "r", "s", "score"


@dataclass(frozen=True)
class SpecialUniques:
    """The minimal sample uniques of the rows of a table with some columns.

    A minimal sample unique of a row is a set of columns in which no other row has the same values, and no proper subset
    of which is one. `sets` counts the minimal sample uniques of each set of columns, by their indexes, and `scores` the
    rows with each score. `unique` rows are equal to no other row in all columns, and `pairs` are two rows that are
    equal to each other alone.
    """

    columns: int
    largest: int
    sets: Mapping[frozenset[int], int]
    scores: Mapping[Fraction, int]
    unique: int
    pairs: int

    def contribution(self, index: int, score: str) -> Fraction | None:
        """The share of all scores that comes from sets with this column; None where no row has a score.

        A set counts for each of its columns, so that the shares add up to more than 1.
        """
        weights = {s: n * score_of(score, self.columns, len(s), self.largest) for s, n in self.sets.items()}
        total = sum(weights.values(), Fraction(0))
        return sum((w for s, w in weights.items() if index in s), Fraction(0)) / total if total else None

    def risk(self, score: Fraction, fraction: Fraction) -> float | None:
        """DIS-SUDA: a rescaling of a row's score whose harmonic mean over the unique rows is theta.

        Theta is the probability that the only match of a unique row is the right person, where the rows are a sample of
        this fraction of the population. None where no row is unique, or no two rows are a pair.
        """
        if not (self.unique and self.pairs and score):
            return None
        theta = fraction * self.unique / (fraction * self.unique + 2 * (1 - fraction) * self.pairs)
        power = 1 + (8 - self.columns) / 20
        inverse = sum(rows / float(other**power) for other, rows in self.scores.items() if other)
        return 1 / (1 + float(self.unique / theta - self.unique) / (float(score**power) * inverse))


def suda(engine: Engine, release: Release, arguments: Mapping[str, Value], scratch: Scratch) -> list[ClassFigure]:
    """The rows that are special, their minimal sample uniques, and how much each quasi-identifier makes them special.

    Of the scores and of DIS-SUDA, which needs a `sampling_fraction`, the highest are told. No row is named: a score
    marks whom to look for.

    Raises UserError for arguments that are none, and PolicyError for rows that are not shown one by one, for rows that
    are not one of each respondent, and for too many columns.
    """
    taken = _Arguments.of(arguments)
    names = _shown_columns(engine, release)
    largest = _largest(release, len(names), taken)
    rows = exp.select(*(alias(column(name), column_name(i)) for i, name in enumerate(names)))
    rows = rows.from_(relation(own_object(engine, release.name)))
    special = special_uniques(scratch, rows, len(names), largest, taken.score, taken.missing)
    highest = max(special.scores, default=Fraction(0))
    contributions = [(name, special.contribution(index, taken.score)) for index, name in enumerate(names)]
    figures = [
        ClassFigure("special_rows", None, float(sum(special.scores.values()))),
        ClassFigure("minimal_sample_uniques", None, float(sum(special.sets.values()))),
        ClassFigure(_NAME, None, float(highest)),
        *(ClassFigure("suda_contribution", n, None if share is None else float(share)) for n, share in contributions),
    ]
    if taken.fraction is not None:
        figures.append(ClassFigure("dis_suda", None, special.risk(highest, taken.fraction)))
    return figures


@dataclass(frozen=True)
class _Arguments:
    size: int | None
    score: str
    missing: str
    fraction: Fraction | None

    @classmethod
    def of(cls, arguments: Mapping[str, Value]) -> _Arguments:
        known: dict[str, Value | None] = {
            "max_size": None,
            "score": "elliot",
            "missing": "none",
            "sampling_fraction": None,
        }
        with about("figures", _NAME):
            for name in arguments:
                if name == UNNAMED or name not in known:
                    raise UserError(f"{_NAME} has no such argument", hint=f"it takes {', '.join(known)}")
            size, score, missing, fraction = (known | dict(arguments)).values()
            if size is not None and not (isinstance(size, int) and 1 <= size <= _MOST_SIZE and size is not True):
                raise UserError(
                    f"{_NAME}: max_size is a number of columns from 1 to {_MOST_SIZE}", hint="write max_size => 4"
                )
            if score not in _SCORES:
                raise UserError(f"{_NAME}: there is no such score", hint=f"there are: {', '.join(_SCORES)}")
            if missing not in ("none", _OWN):
                raise UserError(f"{_NAME}: missing is 'none' or '{_OWN}'", hint="leave it out")
            if fraction is not None and not (isinstance(fraction, int | Decimal) and 0 < fraction <= 1):
                raise UserError(
                    f"{_NAME}: sampling_fraction is above 0, and 1 at most", hint="write sampling_fraction => 0.1"
                )
        return cls(size, str(score), str(missing), None if fraction is None else Fraction(fraction))


def _shown_columns(engine: Engine, release: Release) -> list[str]:
    require_own_columns(engine, release)
    called = f"{_NAME} of {release.name} cannot be measured"
    if entity := policy_of(release).entity:
        raise PolicyError(
            f"{called}: rows of one {entity.name} count as one, and which they are is not published",
            hint="PROFILE says which columns tell the rows of a table apart",
        )
    quasi = [attribute for attribute in release.attributes if attribute.role is Role.QUASI_IDENTIFIER]
    apart = any(attribute.reading is Reading.BUCKET for attribute in release.attributes) or len(release.published) > 1
    if apart or any(attribute.reading not in (*_OF_A_ROW, *_ENDS) for attribute in quasi):
        raise PolicyError(f"{called}: it does not show the quasi-identifiers of each row by levels or ranges")
    names = [attribute.name for attribute in quasi if attribute.reading in _OF_A_ROW]
    if not names:
        raise PolicyError(f"{called}: it has no quasi-identifier")
    return names


def _largest(release: Release, columns: int, arguments: _Arguments) -> int:
    """The number of columns of the largest sets that are looked for."""
    hint = f"name one, max_size => {2 if columns > 2 * _MOST_COLUMNS else 3}"
    if arguments.size is None and columns > _MOST_COLUMNS:
        raise PolicyError(
            f"{_NAME} of {release.name} has {columns} columns, more than {_MOST_COLUMNS} without a max_size", hint=hint
        )
    largest = min(columns, arguments.size or columns)
    sets = sum(comb(columns, size) for size in range(1, largest + 1))
    if sets > _MOST_SETS:
        raise PolicyError(
            f"{_NAME} of {release.name} would look at {sets} sets of columns, and at most at {_MOST_SETS}",
            hint="name a smaller max_size",
        )
    return largest


def score_of(score: str, columns: int, size: int, largest: int) -> Fraction:
    """The score of a minimal sample unique of `size` columns, where sets of at most `largest` are looked for."""
    if score == "elliot":
        return Fraction(prod(columns - i for i in range(size, largest)))
    return Fraction((2 ** (columns - size) - 1) * factorial(size) * factorial(columns - size), factorial(columns))


def special_uniques(
    scratch: Scratch, rows: exp.Select, columns: int, largest: int, score: str, missing: str
) -> SpecialUniques:
    """The minimal sample uniques of the rows of a query with the columns c0, c1 and so on.

    A NULL is in no set, unless `missing` is 'own': then it is a value.
    """
    names = [column_name(index) for index in range(columns)]
    numbered = exp.select("*", alias(window(f.row_number()), _ROW)).from_(rows.subquery("shown"))
    table = scratch.table("cells", numbered)
    unique_sets = scratch.table("unique", _unique_sets(table, names, largest, missing))
    minimal = scratch.table("minimal", _minimal(unique_sets))
    engine = scratch.engine
    counted = exp.select(column(_SET), f.count()).from_(relation(minimal)).group_by(column(_SET))
    sets = {
        frozenset(i for i in range(columns) if mask >> (columns - 1 - i) & 1): int(n)
        for mask, n in engine.rows(counted)
    }
    weights = {size: score_of(score, columns, size, largest) for size in range(1, largest + 1)}
    unit = factorial(columns)
    weighed = case(
        *((f.call("bit_count", column(_SET)).eq(literal(size)), int(weight * unit)) for size, weight in weights.items())
    )
    scored = exp.select(alias(f.sum(cast(weighed, "HUGEINT")), _SCORE)).from_(relation(minimal)).group_by(column(_ROW))
    histogram = exp.select(column(_SCORE), f.count()).from_(scored.subquery("scored")).group_by(column(_SCORE))
    scores = {Fraction(int(total), unit): int(n) for total, n in engine.rows(histogram)}
    classes = exp.select(alias(f.count(), "n")).from_(relation(table)).group_by(*map(column, names))
    sizes = exp.select(*(filtered(f.count(), column("n").eq(literal(n))) for n in (1, 2)))
    ((unique, pairs),) = engine.rows(sizes.from_(classes.subquery("class")))
    return SpecialUniques(columns, largest, sets, scores, int(unique), int(pairs))


def column_name(index: int) -> str:
    """The name of the column at this index."""
    return f"c{index}"


def _unique_sets(table: str, names: Sequence[str], largest: int, missing: str) -> exp.Select:
    """r, s: each row with the sets of columns in which it is unique, as masks; the highest bit is the first column."""
    everything = 2 ** len(names) - 1
    mask = infix(big(literal(everything)), "-", f.call("grouping_id", *map(column, names)))
    sets = [
        exp.Tuple(expressions=[column(name) for name in chosen])
        for size in range(1, largest + 1)
        for chosen in combinations(names, size)
    ]
    query = exp.select(alias(f.any_value(column(_ROW)), _ROW), alias(mask, _SET)).from_(relation(table))
    query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    query = query.having(f.count().eq(literal(1)))
    if missing != _OWN:
        for name in names:
            is_in_no_set = f.call("grouping", column(name)).eq(literal(1))
            query = query.having(exp.or_(is_in_no_set, is_not_null(column(name))))
    return query


def _minimal(unique_sets: str) -> exp.Select:
    """The sets without a proper subset in which the row is unique, too."""
    both = infix(column(_SET, "part"), "&", column(_SET, "whole"))
    part = exp.and_(
        column(_ROW, "part").eq(column(_ROW, "whole")),
        column(_SET, "part").neq(column(_SET, "whole")),
        exp.paren(both).eq(column(_SET, "part")),
    )
    parts = exp.select(literal(1)).from_(relation(unique_sets, as_="part")).where(part)
    query = exp.select(column(_ROW, "whole"), column(_SET, "whole")).from_(relation(unique_sets, as_="whole"))
    return query.where(not_(exists(parts)))

"""MEASURE release WITH FIGURES (suda): the columns in which rows are special, by minimal sample uniques.

Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem (2002); Manning, Haglin and
Keane, A recursive search algorithm for statistical disclosure assessment (2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import comb

from sqlanon.assess.encoded_rows import encoded
from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.special_uniques import (
    MOST_COLUMNS,
    NOT_LOOKED_FOR,
    SpecialColumns,
    special_columns,
    special_uniques,
)
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import LABELS, Reading, Release
from sqlanon.domain.values import UNNAMED, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import relation

_NAME = "suda"
# The most columns without an argument max_size, and the greatest max_size.
_MOST_COLUMNS, _MOST_SIZE = 12, 6
# The greatest number of sets of columns. Each set costs a grouping of all rows.
_MOST_SETS = 2**_MOST_COLUMNS
_SCORES = ("elliot", "ihsn")
_OWN = "own"
# The readings of quasi-identifiers that each row shows alone.
_OF_A_ROW = (Reading.EXACT, *LABELS, Reading.RANGE, Reading.CENTROID)
_ENDS = (Reading.LOWER_BOUND, Reading.UPPER_BOUND)
_ROW, _SET, _SCORE = "r", "s", "score"


def suda(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Measures the special rows, their minimal sample uniques, and each quasi-identifier's share in the scores.

    It returns only the highest score, and the highest DIS-SUDA if `sampling_fraction` is given. The answer does not
    name any row, because a high score would tell an adversary for whom to look.

    Raises UserError for wrong arguments. Raises PolicyError for rows that are not published one by one, for several
    rows per respondent, and for too many columns.
    """
    taken = _Arguments.of(arguments)
    names = _shown_columns(engine, release)
    largest = _largest(release, len(names), taken)
    rows = relation(own_object(engine, release.name))
    special = special_uniques(temp, rows, names, largest, taken.score, taken.missing)
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


def special_columns_of(engine: Engine, release: Release) -> SpecialColumns:
    """Finds the columns that make rows of a release special, in a bounded time; makes no search if `suda` cannot be
    measured.
    """
    try:
        names = _shown_columns(engine, release)
    except PolicyError:
        return NOT_LOOKED_FOR
    if not engine.reads_in_place or len(names) > MOST_COLUMNS:
        return NOT_LOOKED_FOR
    with TempTables(engine) as temp:
        cells = encoded(temp, relation(own_object(engine, release.name)), names, number_nulls=False)
        return special_columns(temp, cells, names)


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
    """Returns the number of columns of the largest sets to search. Raises PolicyError for too many columns or sets."""
    if columns > MOST_COLUMNS:
        raise PolicyError(
            f"{_NAME} of {release.name} would look at {columns} columns, and at most at {MOST_COLUMNS}",
            hint="measure a release of a policy with fewer quasi-identifiers",
        )
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

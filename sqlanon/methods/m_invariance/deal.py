"""Assigns the rows of a source to buckets in which each respondent has the same candidate values as before.

Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007): a respondent who stays
keeps the signature, newcomers and counterfeits fill the missing values, and the other newcomers get new buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.numbers import counted
from sqlanon.domain.series import Signatures
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.m_invariance.ranges import Invariant, ranges_of, step
from sqlanon.methods.shared.bucket_tables import carried, carried_name
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.methods.shared.task import rows_of_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    identical,
    is_null,
    real,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.render import drop
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, query_file, reading
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.cells.labels import published_value


@dataclass(frozen=True)
class Deal:
    """The assignment of a policy's rows to buckets of at least `m` values.

    `respondent` is a column name that no published column has. If `new_signature`, a respondent with a changed value is
    treated as a newcomer. If `cuts` is given, with the ranks of the quasi-identifiers, rows of a bucket are near each
    other, and the bucket gets ranges.
    """

    engine: Engine
    policy: BoundPolicy
    signatures: Signatures
    temp: TempTables
    m: int
    respondent: str
    new_signature: bool
    cuts: Cuts | None = None

    def invariant(self) -> Invariant:
        """Makes the buckets.

        Raises PolicyError for rows without a respondent, for respondents with several rows, and for a series whose
        releases are not m-unique; PrivacyViolation for changed values, and for too few different values.
        """
        self._require_one_row_each()
        self._require_unique()
        codes = self._table("value_code", self._codes())
        if not self.signatures.releases:
            self._require_eligible(codes)
        tables: dict[str, str | exp.Query] = {"value_code": codes, "signature_value": self.signatures.values}
        tables["signature_code"] = self._table("signature_code", step("signature_code", tables))
        rows = self._table("source_row", self._rows(codes, str(tables["signature_code"])))
        staying, changed, newcomers = self._numbers(step("people", {"source_row": rows}))
        if changed and not self.new_signature:
            raise self._changed(changed)
        tables["source_row"] = rows
        newcomer = select(column("row_no"), column("code"), of=relation(rows), where=[is_null(column("signature"))])
        with registered(self.engine, "random_draw") as draw:
            tables["newcomer"] = self._drawn("newcomer", newcomer, draw)
            tables["hole"] = self._drawn("hole", step("hole", tables), draw)
            tables["demand"] = self._drawn("demand", step("demand", tables), draw)
            tables["quota"] = quota = self._table("quota", step("quota", tables, self.m))
            self._require_possible(quota)
            tables["slot"] = self._drawn("slot", step("slot", tables), draw)
            tables["placed"] = self._table("placed", step("placed", tables, self.m))
            if self.cuts is not None:
                near = NearClasses(self.engine, self.temp, rows, len(self.cuts.attributes))
                tables["placed"] = near.placed(str(tables["placed"]), draw)
            tables["class"] = self._drawn("class", step("class", tables), draw)
        tables["bucket"] = self._table("bucket", step("bucket", tables))
        tables["in_bucket"] = in_bucket = self._table("in_bucket", step("in_bucket", tables))
        buckets, _, counterfeits = self._numbers(step("counts", tables))
        ranges = None
        if self.cuts is not None:
            ranges = ranges_of(self.engine, self.temp, self.policy, self.cuts, rows, in_bucket)
        return Invariant(
            rows_in_buckets=self._table("rows_in_buckets", self._rows_in_buckets(rows, in_bucket)),
            in_bucket=in_bucket,
            codes=codes,
            buckets=buckets,
            counterfeits=counterfeits,
            staying=staying,
            newcomers=newcomers,
            changed=changed,
            # Counted independently of the buckets, because the stages compare it with the published rows.
            rows=rows_of_source(self.engine, self.policy),
            respondent=self.respondent,
            ranges=ranges.labels if ranges else None,
            loss=ranges.loss if ranges else Fraction(0),
        )

    @property
    def _sensitive(self) -> BoundAttribute:
        return self.policy.sensitive[0]

    @property
    def _entity(self) -> str:
        assert self.policy.entity is not None
        return self.policy.entity.column

    def _codes(self) -> exp.Query:
        """SELECT of value, n, code: the sensitive values of the source and of the series, numbered in their order.

        n is the number of the source's rows with the value.
        """
        value = published_value(self._sensitive)
        if self._sensitive.published_type in ("FLOAT", "DOUBLE"):
            # Adding 0 removes the sign of a zero: zeros in the ledger have none.
            value = value + literal(0)
        tables = {"source": relation(self.policy.relation), "known_values": relation(self.signatures.known_values)}
        known = query_file("m_invariance", "values_known", tables=tables, value=value)
        return query_file("anatomy", "value_codes", tables={"counted": known})

    def _rows(self, codes: str, signature_codes: str) -> exp.Query:
        """SELECT of the source's rows: row_no, the value's code, the respondent's signature, changed, the respondent,
        further columns.

        A signature without the row's current value is NULL, and changed is then true.
        """
        tables: dict[str, Relation] = {"coded": codes, "known": signature_codes}
        tables |= {"source": relation(self.policy.relation), "former": relation(self.signatures.members)}
        query = query_file(
            "m_invariance",
            "source_rows",
            tables=tables,
            names={"entity": self._entity, "respondent": self.respondent},
            others=[*self._taken_along()],
            value=published_value(self._sensitive, "source"),
        )
        assert isinstance(query, exp.Select)
        for index, ranked in enumerate(self.cuts.ranked if self.cuts else ()):
            of_source = published_value(self.policy.quasi_identifiers[index], "source")
            on = identical(of_source, column("value", f"ranked_{index}"))
            extend(query, joins=[inner_join(relation(ranked, as_=f"ranked_{index}"), on)])
        return query

    def _taken_along(self) -> Iterator[exp.Expr]:
        """The further columns of the rows: ranks and positions if ranges are published, otherwise the published
        columns.
        """
        if self.cuts is None:
            for index, bound in enumerate(carried(self.policy)):
                yield alias(column(bound.column, "source"), carried_name(index))
            return
        text = "(($position - (SELECT min(position) FROM ranked)) / $whole) * $weight"
        for index in self.cuts.attributes:
            yield alias(column(rank_name(0), f"ranked_{index}"), rank_of(index))
            position, whole = column("position", f"ranked_{index}"), real(self.cuts.domains[index])
            share = filled(text, position=position, whole=whole, weight=real(self.cuts.weights[index]))
            yield alias(reading(share, {"ranked": self.cuts.ranked[index]}), position_name(index))

    def _rows_in_buckets(self, rows: str, in_bucket: str) -> exp.Query:
        """SELECT of the rows with their bucket and respondent, and the further columns of rows.

        If ranges are published, it has the code of the value in place of these columns, and a row for each counterfeit.
        """
        tables = {"rows": rows, "in_bucket": in_bucket}
        if self.cuts is not None:
            text = """
                SELECT dealt.bucket, {row.respondent}, dealt.code
                FROM in_bucket AS dealt LEFT JOIN rows AS row ON row.row_no = dealt.row_no
            """
            return filled_query(text, tables=tables, names={"respondent": self.respondent})
        text = """
            SELECT dealt.bucket, {row.respondent}, {row.carried}
            FROM in_bucket AS dealt JOIN rows AS row ON row.row_no = dealt.row_no
        """
        names = {"respondent": self.respondent, "carried": [*map(carried_name, range(len(carried(self.policy))))]}
        return filled_query(text, tables=tables, names=names)

    def _require_one_row_each(self) -> None:
        people = select(alias(column(self._entity), "entity"), of=relation(self.policy.relation))
        rows, respondents, nobody = self._numbers(step("respondents", {"person": people}))
        if nobody:
            raise PolicyError(
                f"{counted(nobody, 'row of the source has', 'rows of the source have')} no {self._entity}, and "
                "m_invariance needs the respondent of each row; nothing was published",
                hint=f"leave them out: make the policy ON (SELECT ... WHERE {self._entity} IS NOT NULL)",
            )
        if rows != respondents:
            whose = ("row of the source is of a respondent", "rows of the source are of respondents")
            raise PolicyError(
                f"{counted(rows - respondents, *whose)} with another row already: m_invariance takes one row of each; "
                "nothing was published",
                hint="make the policy ON a query with one row of each respondent",
            )

    def _require_unique(self) -> None:
        """Raises PolicyError if a respondent of the series had fewer than m candidate values, or a repeated one."""
        repeated, small = self._numbers(step("not_unique", {"signature_value": self.signatures.values}, self.m))
        if repeated:
            raise PolicyError(
                "a class of an earlier release of the series has a value in two rows, so its respondents have no "
                "signature to keep; nothing was published",
                hint="begin another series, and make all of its releases by METHOD m_invariance",
            )
        if small:
            raise PolicyError(
                f"respondents of earlier releases of the series have signatures of fewer than {self.m} values, which "
                "they keep; nothing was published",
                hint="ask for the m of the series' first release, or begin another series",
            )

    def _require_eligible(self, codes: str) -> None:
        """Raises PrivacyViolation unless no value has more than 1/m of the rows."""
        most, rows, _ = self._numbers(step("most_frequent", {"value_code": codes}))
        if most * self.m > rows:
            largest = rows // most
            hint = f"m => {largest} is the largest that works" if largest > 1 else "no m works: values are too alike"
            if self.signatures.required:
                hint += (
                    f"; the series requires {self.signatures.required}: where that is more, leave rows with the value "
                    "out of the source, or begin another series"
                )
            raise PrivacyViolation(
                f"{self._sensitive.column} is not {self.m}-eligible: {most} of {counted(rows, 'row')} have its most "
                f"frequent value, and no more than {rows // self.m} may; nothing was published",
                hint=hint,
            )

    def _require_possible(self, quota: str) -> None:
        lacking = select(f.coalesce(f.max(column("impossible")), 0), of=relation(quota))
        if self._numbers(lacking)[0] > 0:
            [values] = self._numbers(select(f.count(), of=relation(quota)))
            raise PrivacyViolation(
                f"{self._sensitive.column} has {counted(values, 'value')}, and the signature of each newcomer needs "
                f"{self.m}; nothing was published",
                hint="ask for less",
            )

    def _changed(self, number: int) -> PrivacyViolation:
        people = f"{number} respondents have" if number > 1 else "1 respondent has"
        return PrivacyViolation(
            f"{people} another {self._sensitive.column} that is not in their signature, and the promise of the series "
            "needs values that stay; nothing was published",
            hint=(
                "leave these respondents out of the source, or begin another series: then nothing is promised of both "
                "together"
                if self.signatures.required
                else "m_invariance(changed => 'new_signature') treats them as newcomers, but the series then promises "
                "nothing about them"
            ),
        )

    def _drawn(self, purpose: str, query: exp.Query, draw: str) -> str:
        """Makes a table of the query's rows with a further column `draw`, random bits for each row; returns
        its name.
        """
        bits = alias(f.call(draw, 0), "draw")
        return self._table(purpose, extend(exp.select("*", bits), of=subquery(query, "each")))

    def _table(self, purpose: str, query: exp.Query) -> str:
        return self.temp.table(purpose, query)

    def _numbers(self, query: exp.Query) -> list[int]:
        return [int(number) for number in self.engine.rows(query)[0]]


# Classes of one signature, cut so that the rows of each are near each other.
#
# Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007), split the rows of a
# signature until a class has one row of each value, so that each half has as many rows of one value as of another. Here
# all classes are cut at once, as Mondrian cuts its regions: the rows of each value are halved in the attribute in which
# the class's rows vary most. Mondrian's choice, the attribute of the widest range, would be cut again and again because
# of one outlier, since the halves of two values seldom end at one place.

# Variances with a smaller relative difference count as equal: the order of summation changes them.
_ALIKE = 1e-9


def position_name(index: int) -> str:
    """The name of the column with a row's position in the quasi-identifier at this index."""
    return f"position_{index}"


@dataclass(frozen=True)
class NearClasses:
    """Moves rows between classes of the same signature, so that the rows of a class are near each other.

    `rows` is a table of row_no and `position_name` of each of the attributes, from 0 to the attribute's weight.
    """

    engine: Engine
    temp: TempTables
    rows: str
    attributes: int

    def placed(self, placed: str, draw: str) -> str:
        """Makes the table row_no, signature, code, place: the rows of `placed` with new places, near rows in one class.

        Counterfeits are cut like other rows, each at the position of a random row, so the number of counterfeits in a
        half is random. A value with a real row in each class has as many rows in each half as there are classes, so no
        class consists of counterfeits alone.
        """
        tables: dict[str, str | exp.Query] = {"placed": placed}
        tables["value_set"] = self.temp.table("value_set", step("value_set", tables))
        drawn = exp.select("*", alias(f.call(draw, 0), "draw")).from_(subquery(step("near_row", tables), "each"))
        tables["near_row"] = self.temp.table("near_row", drawn)
        regions = self.temp.table("region", self._regions(step("lies_at", tables)))
        ((classes,),) = self.engine.rows(step("most_classes", tables))
        for _ in range((int(classes) - 1).bit_length() if classes else 0):
            halves = self.temp.table("region", self._halves(regions))
            self.engine.run(drop("TABLE", relation(regions), exists=True))
            regions = halves
        query = select(*map(column, ("row_no", "signature", "code")), alias(column("region"), "place"))
        return self.temp.table("placed", extend(query, of=relation(regions)))

    @property
    def _positions(self) -> list[str]:
        return [position_name(index) for index in range(self.attributes)]

    def _regions(self, lies_at: exp.Query) -> exp.Query:
        text = """
            SELECT each.row_no, each.signature, each.code, each.draw, CAST(each.region AS BIGINT) AS region,
              {row.positions}
            FROM each JOIN rows AS row ON each.lies_at = row.row_no
        """
        tables: dict[str, Relation] = {"each": lies_at, "rows": self.rows}
        return filled_query(text, tables=tables, names={"positions": self._positions})

    def _halves(self, regions: str) -> exp.Query:
        """SELECT of the rows of each region with the half to which a cut assigns them; see sql/m_invariance/halves.sql
        and turns.sql.
        """
        attributes = [*range(self.attributes)]
        names = {"positions": self._positions, "variances": [f"variance_{index}" for index in attributes]}
        turns = query_file(
            "m_invariance",
            "turns",
            tables={"regions": regions},
            names=names,
            attributes=attributes,
            alike=real(1 - _ALIKE),
        )
        tables: dict[str, Relation] = {"regions": regions, "turn": turns}
        return query_file("m_invariance", "halves", tables=tables, names=names, attributes=attributes)

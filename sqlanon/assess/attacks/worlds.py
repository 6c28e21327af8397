"""The worlds of the minimality attack: each deals the values of a published class out among its rows anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp as to_the_power
from typing import Any

from sqlglot import exp

from sqlanon.assess.attacks.sizes import sizes
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.ddl import drop
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.classes.normal_relations import literal_rows
from sqlanon.sql.questions.ask import BoundRequirement

PART = ("attack", "minimality")


@dataclass(frozen=True)
class Published:
    """The rows of the source under the labels of each level, and what was published of them.

    `rows` is the table of row_id, the `label` of each quasi-identifier and level, and each sensitive column.
    `published` is that of row_id, class_no, position within the class, from 1, and code, the number of the row's
    sensitive values together.
    """

    policy: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    levels: tuple[int, ...]
    rows: str
    published: str
    count: int

    @property
    def quasi_identifiers(self) -> tuple[BoundAttribute, ...]:
        return self.policy.quasi_identifiers

    @property
    def sensitive(self) -> tuple[BoundAttribute, ...]:
        return self.policy.sensitive

    def keys(self, levels: Sequence[int]) -> list[exp.Expr]:
        """The labels of these levels; `*` tells no rows apart."""
        each = zip(self.quasi_identifiers, levels, strict=True)
        return [column(label_name(i, level)) for i, (b, level) in enumerate(each) if level < b.height]


def worlds_of(engine: Engine, made: Published, arguments: Mapping[str, Any], scratch: Scratch) -> tuple[str, str, bool]:
    """The tables of world, and of world, row_id and code; and whether there is each world that is possible."""
    tables = {"published_row": made.published}
    tables["class_value"] = scratch.table("class_value", worlds_step("class_value", tables))
    ((ways,),) = engine.rows(worlds_step("number_of_worlds", tables))
    number = round(to_the_power(min(float(ways), 50.0)))
    exact = number < sizes().every_world and number * made.count <= sizes().most_dealt
    count = number if exact else int(arguments["worlds"])
    if count * made.count > sizes().most_dealt:
        most = sizes().most_dealt // max(made.count, 1)
        raise PolicyError(
            f"{count:,} worlds of {made.count:,} rows are more than {sizes().most_dealt:,} rows",
            hint=f"draw fewer: worlds => {most}" if most >= sizes().least_worlds else "attack a sample of the source",
            part=PART,
        )
    numbers = exp.select(alias(f.call("unnest", f.call("range", literal(count))), "world"))
    tables["world"] = scratch.table("world", numbers)
    if not exact:
        drawn = worlds_step("drawn_worlds", tables, seed=int(arguments["seed"]))
        return tables["world"], scratch.table("dealt", drawn), False
    tables["arrangement"] = _arrangements(engine, tables, scratch)
    tables["way"] = scratch.table("way", _ways(engine, tables["arrangement"]))
    return tables["world"], scratch.table("dealt", worlds_step("every_world", tables)), True


def _arrangements(engine: Engine, tables: Mapping[str, str], scratch: Scratch) -> str:
    """Each way to deal the values of a class out among its rows, one row more in each step."""
    ((most,),) = engine.rows(exp.select(f.max(column("size"))).from_(relation(tables["class_value"])))
    arranged = scratch.table("arranged", worlds_step("none_dealt", tables))
    for _ in range(int(most or 0)):
        former = arranged
        arranged = scratch.table("arranged", worlds_step("one_more_dealt", {**tables, "arranged": former}))
        engine.run(drop("TABLE", relation(former), exists=True))
    return scratch.table("arrangement", worlds_step("arrangement", {"arranged": arranged}))


def _ways(engine: Engine, arrangement: str) -> exp.Select:
    """class_no, ways and stride: the number of a world is that of the way of each class, in mixed radix."""
    counted = exp.select(column("class_no"), f.count()).from_(relation(arrangement)).group_by(column("class_no"))
    rows: list[tuple[int, int, int]] = []
    stride = 1
    for class_no, ways in sorted(engine.rows(counted)):
        rows.append((int(class_no), int(ways), stride))
        stride *= int(ways)
    return literal_rows([("class_no", "BIGINT"), ("ways", "BIGINT"), ("stride", "BIGINT")], rows)


def label_name(index: int, level: int) -> str:
    return f"label_{index}_{level}"


def worlds_step(name: str, tables: Mapping[str, str], **arguments: Any) -> exp.Query:
    tree = query_file("minimality", name)
    for parameter in list(tree.find_all(exp.Placeholder)):
        parameter.replace(exp.convert(arguments[parameter.name]))
    return reading(tree, tables)

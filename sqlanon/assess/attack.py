"""Attacks of the literature on a release: the knowledge that an adversary gains.

An attack publishes nothing; only the owner sees its answer. For each sensitive attribute, the answer has the numbers of
attacked targets and of successes, the adversary's confidence, the bound that a satisfied requirement promises, and the
worst classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.assess.attacks.attacked import AttackAnswer, Target, attacked
from sqlanon.assess.attacks.composition import ComposedRelease, composed_respondent, ordered_class
from sqlanon.assess.attacks.definetti import believed_row
from sqlanon.assess.attacks.known_people import known_columns
from sqlanon.assess.attacks.minimality import dealt_row
from sqlanon.assess.attacks.rules import item_rule
from sqlanon.catalog import releases
from sqlanon.catalog.releases import require_own_rows
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.requests import AttackRequest
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError, about
from sqlanon.methods.registry import promised_by
from sqlanon.release.existing.classes import classes_of
from sqlanon.release.existing.estimable import recorded
from sqlanon.release.existing.loaded import unreadable
from sqlanon.release.existing.objects import has_checked_rows, require_own_columns
from sqlanon.republication.series.respondents import is_keyed, shown_columns
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sources.source import own_object, qualified
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, filtered, infix, is_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.classes.rows import Rows, RowsOfRequirements, SqlRequirement
from sqlanon.sql.questions.statistics import BoundStatistic, attack_parts, bind_attack

# A function that makes a table which an attack reads, for a release.
Ranking = Callable[[Engine, Release, BoundStatistic, TempTables], str]


def attack_release(
    engine: Engine, release: Release, request: AttackRequest, ranking: Ranking | None = None
) -> list[AttackAnswer]:
    """Returns the answers of an attack on the current release. Raises the errors of `attacked` and `classes_of`.

    `ranking` makes the table ranked_candidate, which the attack by membership reads.
    """
    require_own_columns(engine, release)
    try:
        with engine.transaction(), TempTables(engine) as temp:
            if ranking is not None and fold(request.attack) == "membership":
                return attacked(engine, _ranked(engine, release, ranking), request, temp)
            answers = attacked(engine, _released(engine, release), request, temp)
            if request.attack == "homogeneity":
                return [replace(answer, missing=_missing(engine, release, answer)) for answer in answers]
            return answers
    except EngineError as error:
        raise unreadable(engine, release, error) from None


# Readings of a secret that is published in the same row as the labels of its class: its value, or a label.
_OF_THE_ROW = (Reading.EXACT, Reading.LABEL)
# A guess with a higher confidence is the only such value of its class.
_ONE_OF_TWO = 0.5


def _missing(engine: Engine, release: Release, answer: AttackAnswer) -> float:
    """Returns the share of NULL among the surest guesses of a secret, weighted by the rows of their classes.

    The surest guesses are the most frequent values of the classes with the highest confidence. Returns 0, and counts
    nothing, for a release of several tables, for people with several rows, and for a highest confidence of at most 0.5.
    """
    secret = {fold(a.source or a.name): a.name for a in release.attributes if a.reading in _OF_THE_ROW}.get(
        fold(answer.attribute or "")
    )
    is_alone = len(release.published) == 1 and policy_of(release).entity is None
    if secret is None or not is_alone or answer.highest is None or answer.highest <= _ONE_OF_TWO:
        return 0
    known = [a.name for a in release.attributes if a.role is Role.QUASI_IDENTIFIER]
    n, of_null = column("n"), is_null(column("secret"))
    selected = [alias(column(name), f"known_{index}") for index, name in enumerate(known)]
    keys = [column(f"known_{index}") for index in range(len(known))]
    table = select(*selected, alias(column(secret), "secret"), of=relation(own_object(engine, release.name)))
    values = select(*keys, column("secret"), alias(f.count(), "n"), of=subquery(table, "published"))
    values = extend(values, group_by=[*keys, column("secret")])
    classes = select(
        alias(f.sum(n), "size"),
        alias(f.max(n), "most"),
        alias(filtered(f.max(n), of_null), "missing"),
        of=subquery(values, "value"),
    )
    classes = extend(classes, group_by=keys) if keys else classes
    share = infix(cast(column("most"), "DOUBLE"), "/", column("size"))
    size = f.sum(column("size"))
    query = select(size, filtered(size, column("missing").eq(column("most"))), of=subquery(classes, "class"))
    ((surest, missing),) = engine.rows(extend(query, where=[infix(share, "=", literal(answer.highest))]))
    return float(missing or 0) / float(surest) if surest else 0


def _ranked(engine: Engine, release: Release, ranking: Ranking) -> Target:
    """Returns the target of the attack by membership: a release with any tables, whose rows need not be in classes."""

    def rows(statistics: Sequence[SqlRequirement]) -> list[RowsOfRequirements]:
        nothing = subquery(select(alias(literal(0), "nothing")), "nothing")
        return [RowsOfRequirements(Rows(nothing, (), literal(0)), tuple(range(len(statistics))))]

    return Target(
        called=str(release.name),
        columns=(),
        sensitive={},
        rows=rows,
        known=lambda: known_columns(recorded(engine, release, set()), ()),
        made={"ranked_candidate": lambda statistic, temp: ranking(engine, release, statistic, temp)},
    )


def _released(engine: Engine, release: Release) -> Target:
    classes, policy = classes_of(engine, release), policy_of(release)
    names = tuple(attribute.name for attribute in policy.quasi_identifiers)
    sensitive = tuple(b.column for b in classes.bound.sensitive)
    promised = promised_by(release.method, release.method_arguments)
    sources = {made.fragment: relation(own_object(engine, made.name)) for made in release.published}
    return Target(
        called=str(release.name),
        columns=classes.columns,
        sensitive={b.column: b.attribute.distances for b in classes.bound.sensitive},
        rows=lambda statistics: classes.rows(sources, statistics),
        known=lambda: known_columns(recorded(engine, release, {*map(fold, names)}), names),
        against=policy.against,
        made={
            "believed_row": lambda statistic, temp: believed_row(engine, release, classes, statistic, temp),
            "dealt_row": lambda statistic, temp: dealt_row(engine, release, statistic, temp),
            "item_rule": lambda statistic, temp: item_rule(
                engine, str(release.name), _one_table(release, sources), classes.columns, names, statistic, temp
            ),
            "composed_respondent": lambda statistic, temp: _composed(engine, release, statistic, temp),
            "ordered_class": lambda statistic, temp: ordered_class(
                engine, _composed_release(engine, release), statistic, temp
            ),
        },
        # A promise does not hold for rows that were not checked.
        requirements=resolve_requirements(policy, sensitive, promised) if has_checked_rows(engine, release) else (),
    )


def _one_table(release: Release, sources: Mapping[str | None, exp.Table]) -> exp.Table:
    """Returns the table of a release that has all of the release's columns. Raises PolicyError if there is no such
    table.
    """
    if None not in sources:
        raise PolicyError(f"{release.name} shows its lists apart from the secret items", part=("attack", "rules"))
    return sources[None]


def _composed(engine: Engine, release: Release, statistic: BoundStatistic, temp: TempTables) -> str:
    """Makes the table composed_respondent from a release and the earlier release that the attack names."""
    name = dict(statistic.arguments)["with"]
    assert isinstance(name, QualifiedName)
    with about("attack", "composition", "with"):
        other = releases.load(engine, qualified(engine, name))
    require_own_rows(engine, other)
    require_own_columns(engine, other)
    each = [_composed_release(engine, part) for part in (other, release)]
    return composed_respondent(engine, each, statistic, temp)


def _composed_release(engine: Engine, release: Release) -> ComposedRelease:
    target = _released(engine, release)

    def rows(attribute: str) -> Rows:
        named = {fold(name): name for name in target.sensitive}
        if fold(attribute) not in named or any(made.fragment is not None for made in release.published):
            raise PolicyError(
                f"{release.name} does not show classes of rows with {attribute}", part=("attack", "composition")
            )
        homogeneity, values = attack_parts("homogeneity", ())
        (part,) = target.rows([bind_attack(homogeneity[0], values, (named[fold(attribute)],))])
        return part.rows

    beside = shown_columns(release, target.columns)
    policy = policy_of(release)
    keyed = {fold(each.name) for each in policy.attributes if is_keyed(each)}
    tokens = tuple((name, kind) for name, kind in target.columns if fold(name) in keyed)
    return ComposedRelease(target.called, policy, rows, target.known, beside, tokens)

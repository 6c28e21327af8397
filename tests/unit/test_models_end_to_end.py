"""Every privacy model from a policy to a checked release, against its oracle."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isclose
from pathlib import Path

import duckdb
import pytest

from sqlanon import Connection, PrivacyViolation, UserError, connect
from sqlanon.release.pipeline import run
from sqlanon.release.pipeline.stages import Materialized
from sqlanon.sql.questions.load import load_question
from tests.oracles.models.support import Table
from tests.support.models.patients import (
    DISEASES,
    HIDDEN,
    LIVE,
    METHOD,
    RANGES,
    TOGETHER,
    ZIPS,
    Row,
    asked,
    checked,
    create,
    database,
    every_model,
    holds,
    insert,
    levels,
    oracle,
    patients,
    policy,
    released,
    sensitive,
    table_of,
)

both_kinds = pytest.mark.parametrize("kind", ["TABLE", "VIEW"])


@pytest.fixture
def con() -> Connection:
    return database()


@pytest.fixture(scope="module")
def shared() -> Connection:
    """A database for all tests that leave it as it was."""
    return database()


@pytest.fixture
def made(shared: Connection, name: str) -> Iterator[tuple[str, str]]:
    """A snapshot and a live view of one model, and a transaction in which to change what one likes."""
    snapshot, view = f"{name}_table", f"{name}_view"
    if not shared.duckdb.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [snapshot]).fetchall():
        policy(shared, name, called=name)
        create(shared, "TABLE", snapshot, name)
        if name in LIVE:
            create(shared, "VIEW", view, name)
    shared.execute("BEGIN")
    yield snapshot, view
    shared.execute("ROLLBACK")


@pytest.mark.one_in(18)
@every_model
def test_a_release_meets_its_model(shared: Connection, name: str, made: tuple[str, str]) -> None:
    for release in made if name in LIVE else made[:1]:
        table = table_of(shared, release)
        assert table.rows
        found = checked(shared, release)
        assert found.keys() == {name}
        holds(name, table, found[name])
        assert found[name][0] == (sensitive(name)[0] if load_question(name).of_sensitive_values else None)
        recorded = (
            "SELECT source_rows - suppressed_rows, required, achieved, satisfied FROM anon.release "
            "JOIN anon.measurement USING (release_id) WHERE object_name = ? AND question <> 'granularity_loss'"
        )
        # Sums of logarithms may come in another order.
        [measured] = shared.duckdb.execute(recorded, [release]).fetchall()
        assert measured == pytest.approx((table.rows, *found[name][1:]))


@pytest.mark.one_in(18)
@every_model
def test_a_changed_release_is_found_out(shared: Connection, name: str, made: tuple[str, str]) -> None:
    """One class of the snapshot is cut down to a row, and another view takes the live view's place."""
    snapshot, view = made
    changed, same = sensitive(name)
    others = "disease, days" if changed == "days" else "disease"
    one_class = f"(zip, age, sex) IN (SELECT (zip, age, sex) FROM {snapshot} WHERE id IN (FROM kept))"
    shared.execute(
        f"CREATE TABLE kept AS SELECT min(id) AS id FROM {snapshot} GROUP BY zip, age, sex ORDER BY id LIMIT 1;"
        f"DELETE FROM {snapshot} WHERE {one_class} AND id NOT IN (FROM kept);"
        f"UPDATE {snapshot} SET {changed} = {same} WHERE id IN (FROM kept);"
        f"CREATE OR REPLACE VIEW {view} AS SELECT id, zip, age, sex, {others} FROM "
        f"(SELECT * REPLACE (CASE WHEN sex = 'F' THEN {same} ELSE {changed} END AS {changed}) FROM stays)"
    )
    if name in HIDDEN:
        with pytest.raises(PrivacyViolation, match=r"is not as it was when .* were counted"):
            checked(shared, snapshot)
        with pytest.raises(PrivacyViolation, match=r"shows other rows than those for which .* are counted"):
            checked(shared, view)
    else:
        assert checked(shared, snapshot)[name][-1] is False
        assert name not in LIVE or checked(shared, view)[name][-1] is False


@pytest.mark.long
@both_kinds
def test_several_models_at_once(con: Connection, kind: str) -> None:
    policy(con, *TOGETHER)
    answer = create(con, kind)
    assert tuple(answer) == TOGETHER
    assert checked(con) == answer
    table = table_of(con, "r")
    for name in TOGETHER:
        holds(name, table, answer[name])


@pytest.mark.one_in(2)
@both_kinds
def test_several_sensitive_attributes(con: Connection, kind: str) -> None:
    con.execute(
        "CREATE POLICY p ON source (zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages, "
        "sex QUASI IDENTIFIER, disease SENSITIVE, ward SENSITIVE) REQUIRE l_diversity(l => 2), "
        "l_diversity(l => 6, jointly => true), t_closeness(t => 0.4, attribute => ward)"
    )
    rows = con.execute(f"CREATE ANONYMIZED {kind} r AS POLICY p {METHOD}").fetchall()
    assert [row[7:9] for row in rows] == [
        ("distinct_l_diversity", "disease"),
        ("distinct_l_diversity", "ward"),
        ("distinct_l_diversity", "disease, ward"),
        ("equal_t_closeness", "ward"),
    ]
    assert [row[1:] for row in con.execute("CHECK r").fetchall()] == [row[7:12] for row in rows]
    classes: dict[Row, list[Row]] = defaultdict(list)
    for *key, disease, ward in con.duckdb.execute("FROM r").fetchall():
        classes[tuple(key)].append((disease, ward))
    by_class = list(classes.values())
    expected = [
        min(len({pair[0] for pair in pairs}) for pairs in by_class),
        min(len({pair[1] for pair in pairs}) for pairs in by_class),
        min(len(set(pairs)) for pairs in by_class),
    ]
    assert [row[10] for row in rows[:3]] == expected
    places = iter(range(10_000))
    wards = Table(
        {key: [next(places) for _ in pairs] for key, pairs in classes.items()},
        [ward for pairs in by_class for _, ward in pairs],
    )
    assert isclose(float(oracle("equal_t_closeness").achieved(wards, t=Fraction(1))), rows[3][10])


@pytest.mark.one_in(2)
@both_kinds
def test_a_hidden_requirement_does_not_hide_the_others(con: Connection, kind: str) -> None:
    policy(con, "k_anonymity", "personalized")
    create(con, kind)
    con.execute("DROP POLICY p; UPDATE source SET wish = NULL WHERE wish = '*'")
    assert [row[-1] for row in checked(con).values()] == [True, True]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_guarding_nodes_that_are_published_are_read_from_the_release(con: Connection, kind: str) -> None:
    con.execute(
        "CREATE POLICY p ON source (id INSENSITIVE, zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages, "
        "sex QUASI IDENTIFIER, disease SENSITIVE USING diseases, WISH INSENSITIVE) "
        f"REQUIRE {asked('personalized', guarding='Wish')}"
    )
    answer = create(con, kind)
    table = table_of(con, "r")
    holds("personalized", table, answer["personalized"])
    assert checked(con) == answer
    if kind == "TABLE":
        con.execute("UPDATE r SET wish = 'body'")
        assert checked(con)["personalized"][-1] is False


def test_guarding_nodes_need_not_be_published_even_as_what_they_are(con: Connection) -> None:
    """The candidate holds them while it is checked, whatever the released columns are called."""
    con.execute('ALTER TABLE source ADD COLUMN "__sqlanon_guard_0" INTEGER; UPDATE source SET "__sqlanon_guard_0" = id')
    con.execute(
        "CREATE POLICY p ON source (zip QUASI IDENTIFIER USING zips, disease SENSITIVE USING diseases, "
        'wish IDENTIFIER PSEUDONYM, "__SQLANON_guard_0" INSENSITIVE) '
        f"REQUIRE {asked('personalized')}"
    )
    answer = create(con, "TABLE")
    assert [name for name, *_ in con.duckdb.execute("DESCRIBE r").fetchall()] == [
        "zip", "disease", "wish", "__sqlanon_guard_0",
    ]  # fmt: skip
    assert checked(con) == answer
    assert not {wish for (wish,) in con.duckdb.execute("SELECT wish FROM r").fetchall()} & {"lung", "mind", "flu"}


def _everything(con: Connection) -> dict[str, int]:
    """All relations of the database, and the rows of the catalog's tables."""
    names = con.duckdb.execute(
        "SELECT schema_name || '.' || table_name FROM duckdb_tables() UNION ALL "
        "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"
    ).fetchall()
    return {name: con.duckdb.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for (name,) in names}


@pytest.mark.long
def test_nothing_is_left_of_a_release_that_is_dropped_or_replaced(con: Connection) -> None:
    policy(
        con,
        *("hierarchical_t_closeness", "value_ranges", "personalized", "k_map"),
        source="(SELECT * FROM source)",
        public="(SELECT * FROM voters)",
    )
    before = _everything(con)
    beside = {"main.__sqlanon_source", "main.__sqlanon_public", "anon.report", "anon.content"}
    for kind, made in (("VIEW", {"main.r", *beside}), ("TABLE", {"main.r"})):
        # The table replaces the view.
        create(con, kind)
        after = _everything(con)
        assert {re.sub(r"_[0-9a-f]{32}$", "", name) for name in after.keys() - before.keys()} == made
        assert after["anon.release"] == 1
        assert after["anon.release_taxonomy"] == 2 * len(DISEASES)
        assert after["anon.release_value_range"] == len(RANGES)
        assert (after["anon.release_recoding"] > 0) == (kind == "VIEW")
    con.execute("DROP ANONYMIZED TABLE r")
    assert _everything(con) == before


CHANGES: tuple[Callable[[list[Row]], list[Row]], ...] = (
    lambda rows: rows,
    lambda rows: [(*row[:4], "new" if row[0] % 7 == 0 else row[4], *row[5:]) for row in rows],
    lambda rows: [(row[0], "11" if row[0] % 3 else row[1], *row[2:]) for row in rows],
    lambda rows: [(*row[:4], "flu" if row[3] == "F" else row[4], *row[5:]) for row in rows],
    # A place that no hierarchy knows.
    lambda rows: [(row[0], "99" if row[0] % 5 == 0 else row[1], *row[2:]) for row in rows],
    lambda rows: rows[:3],
    lambda rows: [],
    lambda rows: rows,
)


@pytest.mark.one_in(24)
@pytest.mark.parametrize("name", LIVE)
def test_a_live_view_keeps_its_promise_whatever_becomes_of_its_source(
    shared: Connection, name: str, made: tuple[str, str]
) -> None:
    _, view = made
    shared.execute(f"DROP POLICY {name}")
    shown = []
    for change in CHANGES:
        shared.execute("DELETE FROM source")
        rows = change(patients())
        if rows:
            insert(shared, rows)
        table = table_of(shared, view, rows)
        holds(name, table, checked(shared, view)[name])
        shown.append(table.rows)
    assert shown[0] == shown[-1] > 100
    assert shown[-2] == 0


def test_where_rows_outside_a_class_tell_it_is_nothing_or_all(con: Connection) -> None:
    """Withholding a class may break the next: after the last round nothing is shown, and that is no error."""
    policy(con, "equal_t_closeness")
    create(con, "VIEW")
    con.execute("UPDATE source SET disease = zip || age")
    assert released(con) == []
    assert checked(con) == {"equal_t_closeness": ("disease", 0.25, None, True)}


@pytest.mark.long
@both_kinds
def test_what_a_release_froze_may_be_replaced(con: Connection, kind: str) -> None:
    policy(con, *TOGETHER)
    answer = create(con, kind)
    rows = Counter(released(con))
    con.execute(
        levels("diseases", dict.fromkeys(DISEASES, ("ill", "all"))) + levels("zips", dict.fromkeys(ZIPS, ("z",)))
    )
    con.execute("DROP TABLE ranges; CREATE TABLE ranges AS SELECT 'flu' AS value, 0.9 AS low, 1.0 AS high")
    assert Counter(released(con)) == rows
    assert checked(con) == answer
    con.execute("DROP POLICY p; DROP HIERARCHY diseases; DROP TABLE ranges")
    assert Counter(released(con)) == rows
    assert checked(con) == answer


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "public"), [("delta_presence", "voters"), ("k_map", "(SELECT * FROM voters)"), ("delta_presence", "seen")]
)
def test_a_live_view_follows_its_public_table_and_a_snapshot_does_not(con: Connection, name: str, public: str) -> None:
    con.execute("CREATE VIEW seen AS FROM voters")
    policy(con, name, public=public)
    snapshot, view = create(con, "TABLE", "s"), create(con, "VIEW", "v")
    assert snapshot == view == checked(con, "s") == checked(con, "v")
    con.execute("DELETE FROM voters")
    assert released(con, "v") == []
    assert checked(con, "v")[name] == (*snapshot[name][:2], None, True)
    assert checked(con, "s") == snapshot
    con.execute(
        "INSERT INTO voters SELECT zip, age, sex FROM source, range(12); INSERT INTO voters VALUES ('99', 1, 'F')"
    )
    assert len(released(con, "v")) == 200
    assert checked(con, "v")[name][-1] is True


@pytest.mark.long
@both_kinds
def test_respondents_count_where_a_model_counts_them_and_rows_elsewhere(con: Connection, kind: str) -> None:
    con.execute("ALTER TABLE source ADD COLUMN who INTEGER; UPDATE source SET who = id // 2")
    con.execute(
        "CREATE POLICY p ON source (id INSENSITIVE, who ENTITY, zip QUASI IDENTIFIER USING zips, "
        "age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, disease SENSITIVE USING diseases) AGAINST voters "
        f"REQUIRE {', '.join(map(asked, ('k_anonymity', 'equal_t_closeness', 'alpha_k_anonymity', 'k_map')))}"
    )
    answer = create(con, kind)
    assert checked(con) == answer
    table = table_of(con, "r")
    people = Table(table.classes, table.values, entities=[row[0] // 2 for row in released(con)], public=table.public)
    for name in ("k_anonymity", "alpha_k_anonymity", "equal_t_closeness", "k_map"):
        holds(name, people, answer[name])
    con.execute(f"UPDATE {'r' if kind == 'TABLE' else 'source'} SET disease = 'flu' WHERE sex = 'F'")
    if kind == "TABLE":
        with pytest.raises(PrivacyViolation, match="when its respondents and public rows were counted"):
            con.execute("CHECK r")
    else:
        assert [row[-1] for row in checked(con).values()] == [True] * 4


@pytest.mark.long
def test_a_live_view_whose_companions_are_gone_is_not_vouched_for(con: Connection) -> None:
    policy(con, "personalized")
    create(con, "VIEW")
    [(view,)] = con.duckdb.execute("SELECT view_name FROM duckdb_views() WHERE view_name LIKE 'report_%'").fetchall()
    con.execute(f"DROP VIEW anon.{view}")
    with pytest.raises(UserError, match="the views are gone"):
        con.execute("CHECK r")
    con.execute("DROP ANONYMIZED VIEW r")
    assert con.execute("SELECT count(*) FROM duckdb_views() WHERE schema_name = 'anon'").fetchall() == [(0,)]


def test_a_violation_names_the_requirement_and_the_query(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The candidate is checked by itself: a release that the search took for good is not published if it is not."""
    policy(con, "hierarchical_t_closeness", "k_anonymity")

    def spoilt(made: Materialized) -> Materialized:
        made.bound.engine.run(f"UPDATE {made.candidates[0].stands} SET disease = 'flu' WHERE sex = 'F'")
        return made

    stages = [
        pair
        for stage in run.RELEASE.stages
        for pair in ([stage, ("spoilt", spoilt)] if stage[0] == "materialize" else [stage])
    ]
    monkeypatch.setattr(run, "RELEASE", run.Order(tuple(stages)))
    before = _everything(con)
    asked_for = r"would violate t_closeness\(t => 0.2, distance => 'hierarchical'\) of disease: it reaches 0\."
    with pytest.raises(PrivacyViolation, match=asked_for) as raised:
        create(con, "TABLE")
    assert "release_taxonomy" in str(raised.value.query)
    assert "anon" in str(raised.value.query)
    assert "'flu'" not in str(raised.value.query)
    assert _everything(con) == before


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.long
def test_hostile_names(con: Connection, tmp_path: Path) -> None:
    """Of schemas, tables, columns and releases; a label, a value and a guarding node are as hostile."""
    evil = ["it's", 'a "b"', "select", "x.y", "ü; DROP TABLE source", "class_id", "source", "n" * 200]
    schema, voters, ranges, disease, wish, place, release, hierarchy = map(_quoted, evil)
    con.execute(
        f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.{voters} AS SELECT zip AS {place} FROM voters;"
        f"CREATE TABLE {schema}.{ranges} AS SELECT 'it''s' AS value, 0 AS low, 0.6 AS high;"
        f"CREATE TABLE {schema}.people AS SELECT zip AS {place}, replace(disease, 'flu', 'it''s') AS {disease}, "
        f"ward AS value, CASE wish WHEN 'lung' THEN '\"lung' WHEN 'flu' THEN 'it''s' END AS {wish} FROM source;"
        f"CREATE HIERARCHY {hierarchy} AS LEVELS (SELECT {disease}, if({disease} = 'cold', '\"lung', 'other') "
        f"FROM (SELECT DISTINCT {disease} FROM {schema}.people))"
    )
    con.execute(
        f"CREATE POLICY {hierarchy} ON {schema}.people ({place} QUASI IDENTIFIER USING zips, {disease} SENSITIVE USING "
        f"{hierarchy}, value SENSITIVE) AGAINST {schema}.{voters} REQUIRE k_anonymity(k => 5), "
        f"l_diversity(l => 3, jointly => true), t_closeness(t => 0.5, attribute => {disease}, "
        f"distance => 'hierarchical'), value_ranges(ranges => {schema}.{ranges}, attribute => {disease}), "
        f"k_map(k => 5), personalized(p => 0.8, guarding => {wish}, attribute => {disease})"
    )
    for kind in ("VIEW", "TABLE"):
        con.execute(f"CREATE OR REPLACE ANONYMIZED {kind} {schema}.{release} AS POLICY {hierarchy} {METHOD}")
        found = con.execute(f"CHECK {schema}.{release}").fetchall()
        assert [row[1] for row in found] == [
            "k_anonymity", "distinct_l_diversity", "hierarchical_t_closeness", "value_ranges", "k_map", "personalized",
        ]  # fmt: skip
        assert all(row[-1] for row in found)
        assert found[1][2] == f"{evil[3]}, value"
    for format_ in ("parquet", "csv", "duckdb"):
        con.execute(f"EXPORT {schema}.{release} TO '{tmp_path / format_}' (FORMAT {format_})")
    before = con.execute(f"CHECK {schema}.{release}").fetchall()
    con.execute(f"USE {schema}; DROP TABLE {ranges}; DROP POLICY {hierarchy}; DROP HIERARCHY {hierarchy}")
    assert con.execute(f"CHECK {release}").fetchall() == before
    con.execute(f"DROP ANONYMIZED TABLE {release}")


@pytest.mark.long
def test_bare_clients_read_live_views_of_every_model(tmp_path: Path, con: Connection) -> None:
    """What a live view is made of is SQL alone: another client of the file sees the same rows."""
    path = tmp_path / "d.duckdb"
    con.execute(f"ATTACH '{path}' AS file (STORAGE_VERSION 'v2.0.0'); COPY FROM DATABASE memory TO file; DETACH file")
    with connect(path) as own:
        policy(own, *TOGETHER, source="(SELECT * FROM source)", public="(SELECT * FROM voters)")
        create(own, "VIEW")
        rows = Counter(released(own))
    with duckdb.connect(str(path), read_only=True) as bare:
        assert Counter(bare.execute("SELECT id, zip, age, sex, disease FROM r").fetchall()) == rows
    with connect(path, read_only=True) as own:
        assert all(row[-1] for row in checked(own).values())

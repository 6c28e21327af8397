"""Every privacy model from a policy to a checked and exported release, against its oracle.

The oracles count the released rows alone. What no released row shows - guarding nodes,
the public table - they take from the source, which `id` leads back to.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from math import isclose
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon import Connection, DataError, PolicyError, PrivacyViolation, UserError, connect
from sqlanon.domain.values import Value
from sqlanon.pipeline import run
from sqlanon.pipeline.state import State
from sqlanon.questions.load import load_question, question_names
from tests.contract.models_support import exact
from tests.oracles.models.support import Class, Table

Row = tuple[Any, ...]

DISEASES = {
    "flu": ("lung", "body"),
    "cold": ("lung", "body"),
    "ulcer": ("gut", "body"),
    "colic": ("gut", "body"),
    "panic": ("fear", "mind"),
    "grief": ("loss", "mind"),
    "gout": ("joint", "body"),  # nobody has it
}
ZIPS = {f"{one}{two}": (f"{one}*",) for one in "12" for two in "123"}
AGES = {20: ("young",), 21: ("young",), 35: ("middle",), 36: ("middle",), 50: ("old",)}
RANGES = {"flu": (0.02, 0.45), "grief": (None, 0.4), "colic": (0.0, 0.5), "gout": (0.0, 0.1)}
LEVELS: Mapping[str, Mapping[Any, tuple[str, ...]]] = {"zip": ZIPS, "age": AGES, "sex": {"F": (), "M": ()}}

# What each model is asked for; one without an entry is left to the contract tests.
ARGUMENTS: dict[str, dict[str, Value]] = {
    "k_anonymity": {"k": 7},
    "distinct_l_diversity": {"l": 4},
    "entropy_l_diversity": {"l": Decimal("3.5")},
    "probabilistic_l_diversity": {"l": Decimal(2)},
    "recursive_l_diversity": {"l": 2, "c": Decimal("1.0")},
    "alpha_k_anonymity": {"alpha": Decimal("0.5"), "k": 6},
    "p_sensitive_k_anonymity": {"p": 4, "k": 5},
    "equal_t_closeness": {"t": Decimal("0.25")},
    "ordered_t_closeness": {"t": Decimal("0.2")},
    "hierarchical_t_closeness": {"t": Decimal("0.2")},
    "jensen_shannon_t_closeness": {"t": Decimal("0.08")},
    "delta_disclosure": {"delta": Decimal("1.5"), "absent": "violates"},
    "basic_beta_likeness": {"beta": Decimal("1.5")},
    "enhanced_beta_likeness": {"beta": Decimal(2)},
    "value_ranges": {"ranges": "ranges"},
    "k_map": {"k": 12},
    "delta_presence": {"min": Decimal(0), "max": Decimal("0.7")},
    "personalized": {"p": Decimal("0.6"), "guarding": "wish"},
}
MODELS = [name for name in question_names() if name in ARGUMENTS]
# What they ask about is not in the released rows.
HIDDEN = {"k_map": "public table", "delta_presence": "public table", "personalized": "guarding nodes"}
METHOD = "METHOD generalization(suppression => 0.3)"
every_model = pytest.mark.parametrize("name", MODELS)
both_kinds = pytest.mark.parametrize("kind", ["TABLE", "VIEW"])


def patients(count: int = 200, seed: int = 5) -> list[Row]:
    """id, zip, age, sex, disease, ward, wish: where one lives, and of which sex, tells something of the disease."""
    draw = random.Random(seed)
    rows: list[Row] = []
    for number in range(count):
        place, age, sex = draw.choice(list(ZIPS)), draw.choice(list(AGES)), draw.choice("FM")
        weights = [6, 5, 4, 3, 2, 2] if place[0] == "1" else [3, 3, 4, 4, 4, 4]
        disease = None if draw.random() < 0.03 else draw.choices(list(DISEASES)[:6], weights)[0]
        wish = draw.choice([None] * 6 + ["lung", "mind", "*" if draw.random() < 0.1 else disease])
        rows.append((number, place, age, sex, disease, draw.choice(["north", "south", "east"]), wish))
    return rows


def levels(name: str, labels: Mapping[Any, Sequence[str]]) -> str:
    rows = ", ".join(str((str(value), *path)) if path else f"('{value}')" for value, path in labels.items())
    return f"CREATE OR REPLACE HIERARCHY {name} AS LEVELS (SELECT * FROM (VALUES {rows}) AS t);"


@pytest.fixture
def con() -> Connection:
    connection = connect()
    connection.execute(
        "CREATE TABLE source (id INTEGER, zip VARCHAR, age INTEGER, sex VARCHAR, disease VARCHAR, ward VARCHAR, "
        "wish VARCHAR)"
    )
    insert(connection, patients())
    connection.execute(
        "CREATE TABLE voters AS SELECT zip, age, sex FROM source UNION ALL "
        "SELECT zip, age, sex FROM source WHERE id % 3 > 0;"
        "CREATE TABLE ranges (value VARCHAR, low DOUBLE, high DOUBLE)"
    )
    connection.duckdb.executemany("INSERT INTO ranges VALUES (?, ?, ?)", [[v, *ends] for v, ends in RANGES.items()])
    connection.execute(levels("zips", ZIPS) + levels("ages", AGES) + levels("diseases", DISEASES))
    return connection


def insert(con: Connection, rows: Sequence[Row]) -> None:
    con.duckdb.executemany("INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?)", [list(row) for row in rows])


def asked(name: str, **more: str) -> str:
    """The requirement as a user writes it."""
    question, given = load_question(name), ARGUMENTS[name]
    written = {key: f"'{value}'" if key == "absent" else str(value) for key, value in given.items()}
    if question.when:
        written[question.when.argument] = f"'{question.when.value}'"
    return f"{question.model}({', '.join(f'{key} => {value}' for key, value in (written | more).items())})"


def policy(con: Connection, *names: str, source: str = "source", public: str = "voters", hidden: str = "") -> None:
    """The policy p, which requires all of these models."""
    against = any("public_class" in load_question(name).reads for name in names)
    con.execute(
        f"CREATE OR REPLACE POLICY p ON {source} (id INSENSITIVE, zip QUASI IDENTIFIER USING zips, "
        f"age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, disease SENSITIVE USING diseases{hidden}) "
        f"{f'AGAINST {public} ' if against else ''}REQUIRE {', '.join(map(asked, names))}"
    )


def create(con: Connection, kind: str, release: str = "r") -> dict[str, Row]:
    """Makes the release; its answer by requirement: attribute, required, achieved, satisfied."""
    rows = con.execute(f"CREATE OR REPLACE ANONYMIZED {kind} {release} AS POLICY p {METHOD}").fetchall()
    return {row[7]: row[8:] for row in rows}


def checked(con: Connection, release: str = "r") -> dict[str, Row]:
    return {row[1]: row[2:] for row in con.execute(f"CHECK {release}").fetchall()}


def released(con: Connection, release: str = "r") -> list[Row]:
    """id, zip, age, sex, disease."""
    return con.duckdb.execute(f"SELECT id, zip, age, sex, disease FROM {release}").fetchall()


def label(column: str, value: Any, level: int) -> Any:
    """A value as the release shows it."""
    if level == 0:
        return value
    path = (*next(iter(LEVELS[column].values())), "*")
    return "*" if level == len(path) else LEVELS[column][value][level - 1] if value in LEVELS[column] else None


def table_of(con: Connection, rows: Sequence[Row], source: Sequence[Row]) -> Table:
    """The released rows for the oracles, with the guarding nodes of their source and the public table recoded alike."""
    shown = dict(
        con.duckdb.execute("SELECT attribute, level FROM anon.release_attribute WHERE level IS NOT NULL").fetchall()
    )
    by_id = {row[0]: row for row in source}
    classes: dict[Class, list[int]] = defaultdict(list)
    for place, (number, *labels, disease) in enumerate(rows):
        original = by_id[number]
        expected = [label(column, original[1 + i], shown[column]) for i, column in enumerate(LEVELS)]
        assert [str(part) for part in labels] == [str(part) for part in expected]
        assert disease == original[4]
        classes[tuple(map(str, labels))].append(place)
    public: Counter[Class] = Counter()
    for row in con.duckdb.execute("SELECT zip, age, sex FROM voters").fetchall():
        public[tuple(str(label(column, value, shown[column])) for column, value in zip(LEVELS, row, strict=True))] += 1
    taxonomy: dict[Hashable, tuple[Hashable, ...]] = dict(DISEASES)
    # What the hierarchy does not list, NULL among it, is on a branch of its own.
    taxonomy |= {v: ((v, "own"), (v, "own")) for v in {row[-1] for row in rows} - DISEASES.keys()}
    return Table(
        dict(classes),
        [row[-1] for row in rows],
        taxonomy=taxonomy,
        ranges={value: (_exact(low), _exact(high)) for value, (low, high) in RANGES.items()},
        guards=[by_id[row[0]][6] for row in rows],
        public=public,
    )


def _exact(bound: float | None) -> Fraction | None:
    return None if bound is None else Fraction(str(bound))


def oracle(name: str) -> Any:
    return import_module(f"tests.oracles.models.{name}")


def arguments(name: str) -> dict[str, int | Fraction | str]:
    reads = {parameter.name for parameter in load_question(name).parameters if parameter.type in ("RELATION", "COLUMN")}
    return exact({key: value for key, value in ARGUMENTS[name].items() if key not in reads})


def holds(name: str, table: Table, measured: Row) -> None:
    """The oracle finds no violation, and the figure that was measured."""
    if name == "personalized":
        assert table.taxonomy is not None
        table = replace(table, taxonomy={value: (*path, "*") for value, path in table.taxonomy.items()})
    assert oracle(name).violating(table, **arguments(name)) == set()
    reached = oracle(name).achieved(table, **arguments(name))
    assert measured[-1] is True
    if reached is None:
        assert measured[-2] is None
    else:
        assert isclose(float(reached), measured[-2], rel_tol=1e-9, abs_tol=1e-12)


@both_kinds
@every_model
def test_a_release_meets_its_model(con: Connection, name: str, kind: str) -> None:
    policy(con, name)
    answer = create(con, kind)
    rows = released(con)
    assert rows
    table = table_of(con, rows, patients())
    assert answer.keys() == {name}
    holds(name, table, answer[name])
    assert checked(con) == answer
    attribute = None if HIDDEN.get(name) == "public table" or name == "k_anonymity" else "disease"
    assert answer[name][0] == attribute
    # Without the model more would be shown: it has asked for something.
    everything = table_of(con, [], patients())
    assert everything.rows == 0
    [(suppressed, sizes)] = con.duckdb.execute("SELECT suppressed_rows, source_rows FROM anon.release").fetchall()
    assert len(rows) == sizes - suppressed


TOGETHER = ("k_anonymity", "recursive_l_diversity", "hierarchical_t_closeness", "value_ranges", "personalized", "k_map")


@both_kinds
def test_several_models_at_once(con: Connection, kind: str) -> None:
    policy(con, *TOGETHER)
    answer = create(con, kind)
    assert tuple(answer) == TOGETHER
    assert checked(con) == answer
    table = table_of(con, released(con), patients())
    for name in TOGETHER:
        holds(name, table, answer[name])


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
    assert [row[1:] for row in con.execute("CHECK r").fetchall()] == [row[7:] for row in rows]
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


@every_model
def test_a_tampered_snapshot_is_found_out(con: Connection, name: str) -> None:
    """One class is cut down to a row, of the most frequent disease."""
    policy(con, name)
    create(con, "TABLE")
    con.execute("CREATE TABLE kept AS SELECT min(id) AS id FROM r GROUP BY zip, age, sex ORDER BY id LIMIT 1")
    con.execute(
        "DELETE FROM r WHERE (zip, age, sex) IN (SELECT (zip, age, sex) FROM r WHERE id IN (FROM kept)) "
        "AND id NOT IN (FROM kept); UPDATE r SET disease = 'flu' WHERE id IN (FROM kept)"
    )
    if name in HIDDEN:
        with pytest.raises(PrivacyViolation, match=r"r is not as it was when .* were counted"):
            con.execute("CHECK r")
    else:
        assert checked(con)[name][-1] is False
    with pytest.raises(PrivacyViolation):
        con.execute("EXPORT r TO 'never written'")


@every_model
def test_a_view_that_took_the_place_of_a_live_view_is_found_out(con: Connection, name: str) -> None:
    policy(con, name)
    create(con, "VIEW")
    con.execute(
        "CREATE OR REPLACE VIEW r AS SELECT id, zip, age, sex, CASE WHEN sex = 'F' THEN 'flu' ELSE disease END AS "
        "disease FROM source"
    )
    if name in HIDDEN:
        with pytest.raises(PrivacyViolation, match="shows other rows"):
            con.execute("CHECK r")
    else:
        assert checked(con)[name][-1] is False


@both_kinds
def test_a_hidden_requirement_does_not_hide_the_others(con: Connection, kind: str) -> None:
    policy(con, "k_anonymity", "personalized")
    create(con, kind)
    con.execute("DROP POLICY p; UPDATE source SET wish = NULL WHERE wish = '*'")
    assert [row[-1] for row in checked(con).values()] == [True, True]


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_guarding_nodes_that_are_published_are_read_from_the_release(con: Connection, kind: str) -> None:
    con.execute(
        "CREATE POLICY p ON source (id INSENSITIVE, zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages, "
        "sex QUASI IDENTIFIER, disease SENSITIVE USING diseases, WISH INSENSITIVE) "
        f"REQUIRE {asked('personalized', guarding='Wish')}"
    )
    answer = create(con, kind)
    table = table_of(con, released(con), patients())
    holds("personalized", table, answer["personalized"])
    assert checked(con) == answer
    if kind == "TABLE":
        con.execute("UPDATE r SET wish = 'body'")
        assert checked(con)["personalized"][-1] is False


def test_guarding_nodes_need_not_be_published_even_as_what_they_are(con: Connection) -> None:
    """The candidate holds them while it is checked, whatever the released columns are called."""
    con.execute('ALTER TABLE source ADD COLUMN "__sqlanon_guard_0" INTEGER; UPDATE source SET "__sqlanon_guard_0" = id')
    con.execute(
        'CREATE POLICY p ON source (zip QUASI IDENTIFIER USING zips, disease SENSITIVE USING diseases, '
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


@both_kinds
def test_nothing_is_left_after_drop(con: Connection, kind: str) -> None:
    policy(con, *TOGETHER, source="(SELECT * FROM source)", public="(SELECT * FROM voters)")
    before = _everything(con)
    create(con, kind)
    after = _everything(con)
    made = {name.split("_")[0] for name in after.keys() - before.keys()}
    assert made == ({"main.r", "anon.source", "anon.public", "anon.report", "anon.content"} if kind == "VIEW" else {"main.r"})
    assert after["anon.release_taxonomy"] == 2 * len(DISEASES)
    assert after["anon.release_value_range"] == len(RANGES)
    assert after["anon.release_recoding"] == (0 if kind == "TABLE" else after["anon.release_recoding"])
    con.execute(f"DROP ANONYMIZED {kind} r")
    assert _everything(con) == before
    create(con, kind)
    create(con, "VIEW" if kind == "TABLE" else "TABLE")
    con.execute(f"DROP ANONYMIZED {'VIEW' if kind == 'TABLE' else 'TABLE'} r")
    assert _everything(con) == before


CHANGES: tuple[Callable[[list[Row]], list[Row]], ...] = (
    lambda rows: rows,
    lambda rows: [row for row in rows if row[0] % 2],
    lambda rows: [(*row[:4], "new" if row[0] % 7 == 0 else row[4], *row[5:]) for row in rows],
    lambda rows: [(row[0], "11" if row[0] % 3 else row[1], *row[2:]) for row in rows],
    lambda rows: [(*row[:4], "flu" if row[3] == "F" else row[4], *row[5:]) for row in rows],
    # A place that no hierarchy knows.
    lambda rows: [(row[0], "99" if row[0] % 5 == 0 else row[1], *row[2:]) for row in rows],
    lambda rows: rows[:3],
    lambda rows: [],
    lambda rows: rows,
)


@every_model
def test_a_live_view_keeps_its_promise_whatever_becomes_of_its_source(con: Connection, name: str) -> None:
    policy(con, name)
    create(con, "VIEW")
    con.execute("DROP POLICY p")
    shown = []
    for change in CHANGES:
        con.execute("DELETE FROM source")
        rows = change(patients())
        if rows:
            insert(con, rows)
        table = table_of(con, found := released(con), rows)
        holds(name, table, checked(con)[name])
        shown.append(len(found))
    assert shown[0] == shown[-1] > 100
    assert shown[-2] == 0


def test_where_rows_outside_a_class_tell_it_is_nothing_or_all(con: Connection) -> None:
    """Withholding a class may break the next: after the last round nothing is shown, and that is no error."""
    policy(con, "equal_t_closeness")
    create(con, "VIEW")
    con.execute("UPDATE source SET disease = zip || age")
    assert released(con) == []
    assert checked(con) == {"equal_t_closeness": ("disease", 0.25, None, True)}


@both_kinds
def test_what_a_release_froze_may_be_replaced(con: Connection, kind: str) -> None:
    policy(con, *TOGETHER)
    answer = create(con, kind)
    rows = Counter(released(con))
    con.execute(levels("diseases", {value: ("ill", "all") for value in DISEASES}) + levels("zips", dict.fromkeys(ZIPS, ("z",))))
    con.execute("DROP TABLE ranges; CREATE TABLE ranges AS SELECT 'flu' AS value, 0.9 AS low, 1.0 AS high")
    assert Counter(released(con)) == rows
    assert checked(con) == answer
    con.execute("DROP POLICY p; DROP HIERARCHY diseases; DROP TABLE ranges")
    assert Counter(released(con)) == rows
    assert checked(con) == answer


@pytest.mark.parametrize("name", ["k_map", "delta_presence"])
@pytest.mark.parametrize("public", ["voters", "(SELECT * FROM voters)", "seen"])
def test_a_live_view_follows_its_public_table_and_a_snapshot_does_not(con: Connection, name: str, public: str) -> None:
    con.execute("CREATE VIEW seen AS FROM voters")
    policy(con, name, public=public)
    snapshot, view = create(con, "TABLE", "s"), create(con, "VIEW", "v")
    assert snapshot == view == checked(con, "s") == checked(con, "v")
    con.execute("DELETE FROM voters")
    assert released(con, "v") == []
    assert checked(con, "v")[name] == (*snapshot[name][:2], None, True)
    assert checked(con, "s") == snapshot
    con.execute("INSERT INTO voters SELECT zip, age, sex FROM source, range(12); INSERT INTO voters VALUES ('99', 1, 'F')")
    assert len(released(con, "v")) == 200
    assert checked(con, "v")[name][-1] is True


# Export.


def _certificate(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "certificate.json").read_text(encoding="utf-8")))


@every_model
def test_an_export_is_recomputed_from_its_file(
    con: Connection, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    policy(con, name)
    answer = create(con, "TABLE")
    format_ = ("parquet", "csv", "duckdb")[MODELS.index(name) % 3]
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT {format_})")
    said = _certificate(tmp_path / "out")
    [requirement] = said["requirements"]
    question = load_question(name)
    assert (requirement["model"], requirement["question"]) == (question.model, name)
    assert (requirement["attribute"], requirement["required"], requirement["achieved"]) == answer[name][:3]
    hidden = HIDDEN.get(name)
    seen = f"snapshot with its {hidden}, when it was made" if hidden else "exported file"
    assert requirement["recomputed_from"] == seen
    if question.when:
        assert requirement["arguments"][question.when.argument] == question.when.value
    markdown = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert f"{question.model}(" in markdown
    assert said["loss"]["proven_optimal"] is True
    assert "the least of all levels" in markdown
    data = next(path for path in (tmp_path / "out").iterdir() if "certificate" not in path.name)
    assert b"lung" not in data.read_bytes(), "a label of a sensitive attribute's hierarchy is none of the release"


def test_an_exported_text_file_is_measured_in_the_types_of_the_snapshot(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In CSV 9 and 10 are texts, which have another order than the numbers."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    con.execute("ALTER TABLE source ADD COLUMN income INTEGER; UPDATE source SET income = 7 + id % 9")
    con.execute("CREATE HIERARCHY incomes AS INTERVALS (5, 10)")
    con.execute(
        "CREATE POLICY p ON source (zip QUASI IDENTIFIER USING zips, age QUASI IDENTIFIER USING ages, "
        "income SENSITIVE USING incomes, disease SENSITIVE USING diseases) REQUIRE "
        "t_closeness(t => 0.3, distance => 'ordered'), t_closeness(t => 0.4, distance => 'hierarchical')"
    )
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p {METHOD}")
    for format_ in ("csv", "parquet", "duckdb"):
        con.execute(f"EXPORT r TO '{tmp_path / format_}' (FORMAT {format_})")
        said = _certificate(tmp_path / format_)["requirements"]
        assert [r["attribute"] for r in said] == ["income", "disease"] * 2
        assert {r["recomputed_from"] for r in said} == {"exported file"}
        assert "of income" in (tmp_path / format_ / "certificate.md").read_text(encoding="utf-8")


def test_a_file_that_breaks_a_requirement_is_never_put_in_place(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlanon.export.formats import csv as csv_format

    policy(con, "distinct_l_diversity", "hierarchical_t_closeness")
    create(con, "TABLE")
    write = csv_format.write

    def meddled(engine: Any, file: Any, rows: Any, certificate: str) -> None:
        write(engine, file, rows, certificate)
        text = file.path.read_text(encoding="utf-8")
        for disease in DISEASES:
            text = text.replace(disease, "flu")
        file.path.write_text(text, encoding="utf-8")

    monkeypatch.setattr(csv_format, "write", meddled)
    with pytest.raises(PrivacyViolation, match=r"would violate l_diversity\(l => 4, variant => 'distinct'\) of disease"):
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT csv)")
    assert list(tmp_path.iterdir()) == []


def test_the_certificate_of_hidden_requirements_says_what_was_counted(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    policy(con, *TOGETHER, public="(SELECT * FROM voters WHERE zip <> 'a secret')")
    create(con, "TABLE")
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT parquet)")
    said = _certificate(tmp_path / "out")
    assert said["policy"]["public"] == "query"
    for file in ("certificate.json", "certificate.md"):
        assert "a secret" not in (tmp_path / "out" / file).read_text(encoding="utf-8")
    markdown = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert "Guarding nodes were counted when the snapshot was made" in markdown
    assert "Rows of the public table were counted when the snapshot was made" in markdown
    assert "was recomputed from the exported file itself" in markdown


# Any relation.


def test_check_of_a_relation_with_all_that_a_policy_can_say(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT zip, sex, disease, ward, wish FROM source WHERE wish IS DISTINCT FROM '*'")
    con.execute("CREATE TABLE public AS SELECT sex AS Sex, zip AS ZIP FROM voters")
    for place, (source, kind) in enumerate([("t", "ENUM"), ("t", "VARCHAR"), ("(SELECT * FROM t)", "VARCHAR")]):
        con.execute("CREATE OR REPLACE TABLE c AS FROM t")
        if kind == "ENUM":
            for column in ("zip", "disease"):
                con.execute(f"CREATE TYPE {column}_{place} AS ENUM (SELECT DISTINCT {column} FROM t WHERE {column} IS NOT NULL)")
                con.execute(f"ALTER TABLE c ALTER {column} TYPE {column}_{place}")
        rows = con.execute(
            f"CHECK {source.replace(' t', ' c').replace('t', 'c') if source == 't' else '(SELECT * FROM c)'} (Zip, sex) "
            f"SENSITIVE Disease USING diseases, ward AGAINST public REQUIRE {', '.join(map(asked, TOGETHER[:1]))}, "
            f"{asked('hierarchical_t_closeness', attribute='disease')}, {asked('personalized', attribute='disease')}, "
            f"{asked('k_map')}, {asked('delta_presence')}, {asked('value_ranges', attribute='disease')}, l_diversity(l => 2)"
        ).fetchall()
        found = con.duckdb.execute("SELECT zip, sex, disease, wish, ward FROM t").fetchall()
        classes: dict[Class, list[int]] = defaultdict(list)
        for number, row in enumerate(found):
            classes[row[:2]].append(number)
        table = Table(
            dict(classes),
            [row[2] for row in found],
            taxonomy={**DISEASES, None: ((None, "own"), (None, "own"))},
            ranges={value: (_exact(low), _exact(high)) for value, (low, high) in RANGES.items()},
            guards=[row[3] for row in found],
            public=Counter(con.duckdb.execute("SELECT zip, sex FROM voters").fetchall()),
        )
        wards = Table(dict(classes), [row[4] for row in found])
        names = [row[1] for row in rows]
        assert names == [
            "k_anonymity", "hierarchical_t_closeness", "personalized", "k_map", "delta_presence", "value_ranges",
            "distinct_l_diversity", "distinct_l_diversity",
        ]  # fmt: skip
        for name, row in zip(names[:6], rows, strict=False):
            assert isclose(row[4], float(oracle(name).achieved(table, **arguments(name))), abs_tol=1e-12), name
            assert row[5] == (not oracle(name).violating(table, **arguments(name))), name
        assert [row[2] for row in rows[6:]] == ["disease", "ward"]
        assert [row[4] for row in rows[6:]] == [oracle("distinct_l_diversity").achieved(t, l=2) for t in (table, wards)]


def test_what_check_of_a_relation_refuses(con: Connection) -> None:
    con.execute("CREATE OR REPLACE HIERARCHY lacks AS LEVELS (SELECT 'flu', 'lung')")
    for text, error, what in (
        ("CHECK source (zip) REQUIRE l_diversity(l => 2)", PolicyError, "there is no sensitive attribute"),
        ("CHECK source (zip) SENSITIVE zip REQUIRE l_diversity(l => 2)", PolicyError, "as a quasi-identifier and as"),
        ("CHECK source (zip) SENSITIVE nope REQUIRE l_diversity(l => 2)", PolicyError, "has no column nope"),
        ("CHECK source (zip) REQUIRE k_map(k => 2)", PolicyError, "there is none"),
        ("CHECK source (zip) AGAINST voters REQUIRE k_anonymity(k => 2)", PolicyError, "nothing is asked about"),
        ("CHECK source (ward) AGAINST voters REQUIRE k_map(k => 2)", PolicyError, "has no column ward"),
        ("CHECK source (zip) SENSITIVE disease REQUIRE t_closeness(t => 1, distance => 'hierarchical')", PolicyError, "needs a hierarchy"),
        ("CHECK source (zip) SENSITIVE disease USING nope REQUIRE l_diversity(l => 2)", PolicyError, "no hierarchy nope"),
        ("CHECK source (zip) SENSITIVE disease USING lacks REQUIRE t_closeness(t => 1, distance => 'hierarchical')", DataError, "lacks values of the column disease: 'cold'"),
        ("CHECK source (zip) SENSITIVE disease REQUIRE value_ranges(ranges => nope)", PolicyError, "no such table"),
        ("CHECK source (zip) SENSITIVE disease USING diseases REQUIRE personalized(p => 1, guarding => nope)", PolicyError, "needs a column nope"),
    ):  # fmt: skip
        with pytest.raises(error, match=what):
            con.execute(text)


def test_a_sensitive_column_that_nothing_asks_about(con: Connection) -> None:
    found = con.execute("CHECK source (zip) SENSITIVE disease REQUIRE k_anonymity(k => 2)").fetchall()
    assert [row[1:3] for row in found] == [("k_anonymity", None)]


def test_a_figure_may_be_infinite() -> None:
    con = connect()
    con.execute("CREATE TABLE t AS SELECT 1 AS a, 'flu' AS s FROM range(3)")
    for asked_for in ("l_diversity(l => 2, c => 3, variant => 'recursive')",):
        [row] = con.execute(f"CHECK t (a) SENSITIVE s REQUIRE {asked_for}").fetchall()
        assert row[2:] == ("s", 3.0, float("inf"), False)
        assert con.sql(f"CHECK t (a) SENSITIVE s REQUIRE {asked_for}").df()["achieved"][0] == float("inf")
    con.execute("CREATE TABLE d AS SELECT 2 AS a")
    [row] = con.execute("CHECK t (a) AGAINST d REQUIRE delta_presence(min => 0, max => 1)").fetchall()
    assert row[3:] == (1.0, float("inf"), False)


def test_check_needs_no_catalog() -> None:
    con = connect()
    con.execute("CREATE TABLE t AS SELECT i % 2 AS a, i AS s FROM range(6) AS r(i)")
    found = con.execute("CHECK t (a) SENSITIVE s REQUIRE t_closeness(t => 0.5), l_diversity(l => 3)").fetchall()
    assert [row[1:] for row in found] == [
        ("equal_t_closeness", "s", 0.5, 0.5, True),
        ("distinct_l_diversity", "s", 3.0, 3.0, True),
    ]
    assert con.execute("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'anon'").fetchall() == [(0,)]
    with pytest.raises(PolicyError, match="no hierarchy h"):
        con.execute("CHECK t (a) SENSITIVE s USING h REQUIRE l_diversity(l => 3)")


# Respondents.


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
    table = table_of(con, rows := released(con), patients())
    people = Table(table.classes, table.values, entities=[row[0] // 2 for row in rows], public=table.public)
    for name in ("k_anonymity", "alpha_k_anonymity", "equal_t_closeness", "k_map"):
        holds(name, people, answer[name])
    con.execute(f"UPDATE {'r' if kind == 'TABLE' else 'source'} SET disease = 'flu' WHERE sex = 'F'")
    if kind == "TABLE":
        with pytest.raises(PrivacyViolation, match="when its respondents and public rows were counted"):
            con.execute("CHECK r")
    else:
        assert [row[-1] for row in checked(con).values()] == [True] * 4


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

    def spoilt(state: State) -> State:
        assert state.candidate is not None
        state.engine.run(f"UPDATE {state.candidate} SET disease = 'flu' WHERE sex = 'F'")
        return state

    stages = [pair for stage in run.RELEASE for pair in ([stage, ("spoilt", spoilt)] if stage[0] == "materialize" else [stage])]
    monkeypatch.setattr(run, "RELEASE", tuple(stages))
    before = _everything(con)
    asked_for = r"would violate t_closeness\(t => 0.2, distance => 'hierarchical'\) of disease: it reaches 0\."
    with pytest.raises(PrivacyViolation, match=asked_for) as raised:
        create(con, "TABLE")
    assert "release_taxonomy" in str(raised.value.query)
    assert "anon" in str(raised.value.query)
    assert "'flu'" not in str(raised.value.query)
    assert _everything(con) == before


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

"""The gate admits what analysts write about granted releases, and refuses all else with one line that says why."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import duckdb
import pytest

from sqlanon.clients.serve.allowed import allowed, grammar, groups
from sqlanon.clients.serve.gate import MOST_BRACKETS, MOST_BYTES, MOST_TOKENS, admit
from sqlanon.clients.serve.refused import Refused
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.parse_trees import ParseTrees, Unparsed, tokens
from sqlanon.engines.room_reader import RoomReader
from tests.support.door.doors import room_file
from tests.support.door.statements import (
    ANALYST,
    ANALYST_FUNCTIONS,
    ANALYST_GRANTED,
    ANALYST_TABLES,
    named,
    queries_of_pages,
    statements,
)

HOSPITAL = QualifiedName(("main", "hospital"))
CENSUS = QualifiedName(("study", "Census 2026"))
GRANTED = {HOSPITAL: ("born", "sex", "disease"), CENSUS: ("age", "user")}

MAY_RUN = (
    "a reader may run one SELECT, FROM, WITH, VALUES, PIVOT, UNPIVOT, DESCRIBE, SUMMARIZE, SHOW TABLES or "
    "ESTIMATE ... FROM RELEASE or UNDER BUDGET"
)
SHOW = "{} is not answered here: SHOW TABLES lists your releases, DESCRIBE the columns of one"


def reads(statement: str) -> set[str]:
    return {str(name) for name in admit(statement, GRANTED).reads}


def refusal(statement: str) -> str:
    with pytest.raises(Refused) as refused:
        admit(statement, GRANTED)
    message = str(refused.value)
    assert "\n" not in message
    assert len(message) <= 300
    return message


@pytest.mark.parametrize(
    "statement",
    [
        "FROM hospital",
        "SELECT * FROM main.HOSPITAL",
        'SELECT count(*) FROM "Hospital" AS h;',
        "-- a comment\nSELECT 1 FROM hospital /* another */",
        "DESCRIBE hospital",
        "SUMMARIZE SELECT born FROM hospital",
        "FROM (SUMMARIZE hospital)",
        "PIVOT hospital ON sex IN ('F', 'M') USING count(*)",
        "PIVOT hospital ON sex, disease USING count(*) GROUP BY born ORDER BY born LIMIT 3",
        "WITH h AS (FROM hospital) PIVOT h ON sex || '-' || disease",
        "FROM (PIVOT_WIDER hospital ON lower(sex) USING count(*))",
        "UNPIVOT hospital ON born, sex INTO NAME n VALUE v",
        "SELECT now(), printf('%s', sex), timezone('UTC', now()), now() AT TIME ZONE 'UTC' FROM hospital",
        "SELECT i FROM hospital, range(3) AS r(i), generate_series(1, 2), unnest([1])",
        "SELECT * FROM hospital WHERE born = ? AND sex = ?",
        "WITH hospital AS (SELECT * FROM hospital) FROM hospital",
        "SELECT * FROM hospital USING SAMPLE 10%",
    ],
)
def test_a_query_of_a_granted_release_is_admitted_as_it_is(statement: str) -> None:
    admitted = admit(statement, GRANTED)
    assert (admitted.sql, admitted.reads) == (statement, frozenset({HOSPITAL}))


def test_the_releases_that_are_read_are_told() -> None:
    assert reads('SELECT * FROM study."census 2026" JOIN hospital ON true') == {"main.hospital", "study.Census 2026"}
    assert reads("SELECT 1") == set()
    assert reads("WITH hospital AS (SELECT 1) FROM hospital") == set()


def test_show_tables_lists_what_is_granted_and_asks_nobody() -> None:
    rows = duckdb.sql(admit(" show  TABLES; -- all", GRANTED).sql).fetchall()
    assert rows == [("hospital",), ("study.Census 2026",)]
    assert duckdb.sql(admit("SHOW TABLES", {}).sql).fetchall() == []
    quoted = {QualifiedName(("main", "a'b")): ()}
    assert duckdb.sql(admit("SHOW TABLES", quoted).sql).fetchall() == [("a'b",)]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT * FROM patients", "no release of this name is granted to you: patients"),
        ("SELECT * FROM hospitals", "no release of this name is granted to you: hospitals"),
        ("SELECT * FROM study.hospital", "no release of this name is granted to you: study.hospital"),
        ('SELECT * FROM "Census 2026"', "no release of this name is granted to you: Census 2026"),
        ("SELECT * FROM clinic.main.hospital", "no release of this name is granted to you: clinic.main.hospital"),
        ("SELECT * FROM 'hospital.csv'", "no release of this name is granted to you: hospital.csv"),
        ('FROM "a\nb"', "no release of this name is granted to you: a b"),
        ("SELECT getvariable('x') FROM hospital", "the function getvariable is not allowed here"),
        ("SELECT main.count(*) FROM hospital", "the function main.count_star has a schema: write its name alone"),
        ("FROM read_csv('x.csv')", "the table function read_csv is not allowed here"),
        ("SELECT sex::main.diseases FROM hospital", "the type main.diseases has a schema: write its name alone"),
        ("SELECT sex::diseases FROM hospital", "the type diseases is not allowed here"),
        ("SELECT current_user FROM hospital", "current_user is not allowed here"),
        ("SELECT 1; SELECT 2", "write one statement; this text has 2"),
        ("", "write one statement; this text has 0"),
        ("DROP TABLE hospital", f"DROP is not allowed here: {MAY_RUN}"),
        ("insert into hospital values (1)", f"INSERT is not allowed here: {MAY_RUN}"),
        ("CHECK hospital", f"CHECK is a statement for the owner of the releases; {MAY_RUN}"),
        ("DESCRIBE POLICY study", f"DESCRIBE POLICY is a statement for the owner of the releases; {MAY_RUN}"),
        ("SELEC 1", 'the statement is not SQL that DuckDB reads: syntax error at or near "SELEC"'),
        ("SELECT '\0'", "the statement has control characters"),
        ("SELECT '\ud800'", "the statement is not valid Unicode text"),
        ("SHOW memory_limit", SHOW.format("SHOW MEMORY_LIMIT")),
        ("show readers;", SHOW.format("SHOW READERS")),
        ("SHOW GRANTS FOR ana", SHOW.format("SHOW GRANTS")),
        ("SHOW DATABASES", SHOW.format("SHOW DATABASES")),
        ("FROM (SHOW DATABASES)", "this part of a statement is not read here: table_name"),
        ("WITH x AS (DELETE FROM hospital) FROM x", "this part of a statement is not read here: DELETE_QUERY_NODE"),
        ("FROM hospital AT (VERSION => 1)", "this part of a statement is not read here: at_clause"),
        ("SELECT sum(born) EXPORT_STATE FROM hospital", "this part of a statement is not read here: export_state"),
    ],
)
def test_all_else_is_refused_with_one_line(statement: str, message: str) -> None:
    assert refusal(statement) == message


def test_a_session_name_is_a_column_where_a_release_has_it() -> None:
    assert reads('SELECT "user" FROM study."Census 2026"') == {"study.Census 2026"}
    assert refusal("SELECT current_schema") == "current_schema is not allowed here"


def test_pivots_without_values_see_the_outermost_ctes_only() -> None:
    assert reads("WITH h AS (FROM hospital), g AS (PIVOT h ON sex) FROM g") == {"main.hospital"}
    assert "outermost WITH" in refusal("FROM (WITH h AS (FROM hospital) FROM (PIVOT h ON sex))")
    assert "outermost WITH" in refusal(
        "WITH h AS (FROM hospital) FROM (WITH h AS (SELECT 1 x) FROM h), (PIVOT h ON sex)"
    )
    assert refusal("PIVOT patients ON sex") == "no release of this name is granted to you: patients"
    assert "PIVOT" in refusal("PIVOT hospital ON sex; DROP TABLE hospital")
    assert "PIVOT" in refusal("DROP TABLE hospital; PIVOT hospital ON sex")


def test_long_and_deep_statements_are_refused_before_they_are_parsed() -> None:
    assert "bytes" in refusal(f"SELECT '{'x' * MOST_BYTES}'")
    assert "words" in refusal(f"SELECT {'1,' * (MOST_TOKENS // 2)}1")
    assert "brackets" in refusal(f"SELECT {'(' * (MOST_BRACKETS + 1)}")
    assert "brackets" in refusal(f"SELECT {'[{(' * MOST_BRACKETS}")
    assert "nested" in refusal(f"FROM hospital{', hospital' * 400}")
    assert reads(f"SELECT {'(' * MOST_BRACKETS}1{')' * MOST_BRACKETS}") == set()
    # Brackets within texts and comments are none.
    assert reads(f"SELECT '{'(' * 100}', $a${'[' * 100}$a$ /* {'(' * 100} */") == set()


def test_the_lexer_counts_bytes_and_leaves_texts_whole() -> None:
    found = tokens("SELECT 'ä(', \"(\" /* ( */ , b -- (")
    assert [(token.start, token.kind, token.text.decode()) for token in found] == [
        (0, "keyword", "SELECT"),
        (7, "string_const", "'ä('"),
        (12, "operator", ","),
        (14, "identifier", '"("'),
        (18, "comment", "/* ( */"),
        (26, "operator", ","),
        (28, "identifier", "b"),
        (30, "comment", "-- ("),
    ]


def test_every_function_of_duckdb_is_allowed_or_refused_and_no_other_is_named() -> None:
    kinds: dict[str, set[str]] = {}
    for name, kind in ParseTrees().functions():
        kinds.setdefault(name.lower(), set()).add(kind)
    called = {name for name, of_name in kinds.items() if of_name & {"scalar", "aggregate", "window", "macro"}}
    refused = frozenset().union(*groups("refused").values())
    # An operator such as * is a name, not a pattern.
    patterns = {pattern for pattern in refused if pattern[0].isalpha() or pattern.startswith("_")}
    hit = {name for name in called if any(fnmatchcase(name, pattern) for pattern in patterns)}
    assert called - allowed().functions - hit == set()
    assert hit & allowed().functions == set()
    # The parser makes unnest a function of its own.
    assert allowed().functions - called == {"unnest"}
    assert allowed().tables <= {name for name, of_name in kinds.items() if "table" in of_name}
    assert sum(map(len, groups("allowed").values())) == len(allowed().functions)


def test_every_type_of_duckdb_is_allowed_or_refused() -> None:
    there = {name.lower() for name in ParseTrees().types()}
    refused = frozenset().union(*groups("refused_types").values())
    assert there <= allowed().types | refused
    assert allowed().types <= there
    assert allowed().types & refused == set()


def test_what_the_lists_of_nodes_name_is_understood() -> None:
    contents = {
        content.removesuffix("?")
        for nodes in grammar().kinds.values()
        for fields in nodes.values()
        for content in fields.values()
        if isinstance(content, str)
    }
    parts = {content.removeprefix(f"{kind}:") for content in contents for kind in ("part", "parts") if ":" in content}
    assert {part for part in parts if ":" not in part} <= grammar().kinds["part"].keys()
    assert {content for content in contents if ":" not in content} <= {
        *("text", "texts", "number", "flag", "sets", "empty", "expression", "expressions", "rows", "reference"),
        *("query", "queries", "ctes", "orders", "modifier", "modifiers", "table function"),
    }


def test_queries_of_the_documentation_that_read_relations_are_admitted() -> None:
    parser = ParseTrees()
    admitted, refused = [], []
    for place, text in queries_of_pages():
        try:
            tables, functions = named(parser.read(text))
        except Unparsed:  # a statement of sqlanon's, DESCRIBE POLICY
            continue
        if not tables or not functions <= allowed().tables or any("." in path[-1] for path in tables):
            continue
        granted = {QualifiedName(("main", *path)[-2:]): () for path in tables}
        try:
            admit(text, granted)
            admitted.append(place)
        except Refused:
            refused.append(place)
    assert len(admitted) > 100
    assert len(refused) <= len(admitted) * 2 / 118, refused


@pytest.mark.parametrize("file", [ANALYST, ANALYST_FUNCTIONS], ids=lambda file: file.stem)
def test_queries_of_an_analyst_are_admitted_and_answered(file: Path, tmp_path: Path) -> None:
    """In a room, which is locked, as DuckDB answers them without a lock."""
    texts = statements(file.read_text(encoding="utf-8"))
    room = RoomReader(str(room_file(tmp_path / "released.duckdb", *ANALYST_TABLES)), memory=1 << 30, threads=1)
    refused, answered = [], []
    with duckdb.connect() as own:
        own.execute("; ".join(ANALYST_TABLES))
        for text in texts:
            parameters = (20, 40) if "?" in text else ()
            try:
                admitted = admit(text, ANALYST_GRANTED)
            except Refused as error:
                refused.append((str(error), text))
                continue
            expected = own.sql(text, params=list(parameters)) if parameters else own.sql(text)
            answer = room.batches(admitted.sql, parameters, 1000).read_all()
            answered.append(answer.num_rows)
            assert answer.num_rows == len(expected.fetchall()) or "SAMPLE" in text
            assert answer.num_columns == len(expected.columns)
    assert refused == []
    assert len(answered) == 30
    assert 0 not in answered


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT sex.trim().lower() FROM hospital", None),
        ("SELECT SEX.Trim() FROM hospital", None),
        ("SELECT sex.getvariable() FROM hospital", "the function getvariable is not allowed here"),
        ("SELECT archive.trim(sex) FROM hospital", "the function archive.trim has a schema: write its name alone"),
        ("SELECT main.trim(sex) FROM hospital", "the function main.trim has a schema: write its name alone"),
        ("SELECT hospital.sex.trim() FROM hospital", "hospital.sex.trim has a schema: write its name alone"),
        ("SELECT sex.sum() OVER () FROM hospital", "the function sex.sum has a schema: write its name alone"),
        ("FROM sex.range(3)", "the table function sex.range has a schema: write its name alone"),
        ('SELECT age.abs(), study.abs(1) FROM study."Census 2026"', "the function study.abs has a schema"),
    ],
)
def test_a_function_may_be_called_on_a_column_and_none_of_a_schema(statement: str, message: str | None) -> None:
    if message is None:
        assert reads(statement) == {"main.hospital"}
    else:
        assert message in refusal(statement)

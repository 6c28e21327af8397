"""Where a script is cut, compared with where DuckDB cuts it."""

from __future__ import annotations

import time

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.errors import Position
from sqlanon.statements.base import PassThrough
from sqlanon.statements.parser import parse_script
from sqlanon.syntax.lexer import RESERVED, Kind, tokens
from sqlanon.syntax.script import is_complete, split

# Statements that DuckDB runs one after the other, and that are easily cut, dropped or misread.
ODD = [
    "select ';'",
    "select 'it''s; CREATE POLICY p ON t'",
    'create table "a;b" ("c;""d" int, `e;f` int)',
    'select `e;f` from "a;b"',
    "select $$; CREATE HIERARCHY h $$",
    "select $tag$ ; $$ ; $other$ $tag$",
    "select $é$;$é$",
    "select E'a\\'; b'",
    "select e'\\\\', ';'",
    "select 'a\\', ';'",
    "select /* a /* nested; */ ; */ 1",
    "select 2 //* ; */ 3",
    "select 1 -- ; 'not a string\n + 1",
    "select 1 -/*;*/- 2",
    "select x'3B', 1_000, .5, 1., 1e3",
    "select '🦆;' as \"🦆\", 1 as 🦆s",
    "select 'a'\n';b'",
    "select list_transform([1, 2], lambda x: x + 1)",
    "create macro f(x, k := 5) as table select x as x, k as k, ';' as s",
    "from f(1, k := 3)",
    "create type mood as enum ('a;', 'b')",
    'create table m (i int, s mood, j struct(a int, "b;" int)[])',
    "insert into m values (1, 'a;', [{'a': 1, 'b;': 2}])",
    "from m select * exclude (s) where s::varchar = 'a;'",
    "select map {'a;': 1}['a;']",
    "pivot m on s using sum(i)",
    "unpivot (select 1 as a, 2 as b) on columns(*)",
    "summarize m",
    "describe m",
    "show tables",
    "explain select ';'",
    "prepare q as select $1 || ';'",
    "execute q('x;')",
    "deallocate q",
    "set variable v = 'a;b'",
    "select getvariable('v')",
    "pragma table_info('m')",
    "call pragma_version()",
    "begin transaction",
    'create or replace view "policy" as select 1 as hierarchy, 2 as anonymized',
    "select hierarchy, anonymized from policy",
    "comment on view policy is 'EXPORT hospital; CHECK it'",
    "commit",
    "merge into m using (select 1 as i) n on m.i = n.i when matched then update set i = 2 when not matched by target "
    "then insert (i) values (3)",
    "drop view policy",
    "checkpoint",
    "values (1, ';')",
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) from r",
    "select 5 % 3, 2 ^ 3, 'a' ^@ 'a', 1 <> 2, not 'a' ~ ';', @ -1, 4 !, [1][1:1], 'a' !~~ ';'",
    "select #1 from (select ';' as a)",
]


@pytest.mark.parametrize(
    "between", [";", ";\n", " ;\n-- a comment; with 'quotes\n", ";;/* ; /* ; */ */\n;", ";\u3000\ufeff"]
)
def test_odd_statements_are_cut_as_written(between: str) -> None:
    pieces = list(split(between.join(ODD)))
    assert [piece.text for piece in pieces] == ODD


def test_duckdb_runs_every_piece() -> None:
    script = ";\n".join(ODD)
    statements = parse_script(script)
    assert len(statements) == len(duckdb.extract_statements(script))
    con = duckdb.connect()
    for statement in statements:
        assert isinstance(statement, PassThrough)
        con.execute(statement.text)
        con.fetchall()


# Fragments of which DuckDB's own tokenizer and ours must make the same.
FRAGMENTS = [
    *("'", "''", '"', "`", "$$", "$a$", "$1", "$", "/*", "*/", "//*", "--", "\n", "\r", " ", ";", ";", ";", "(", ")"),
    *(
        "E'",
        "e'",
        "\\",
        "\\'",
        "a",
        "a$",
        "1",
        "0x1F",
        "1_0",
        "é",
        "🦆",
        "x'",
        "N'",
        "U&'",
        "=>",
        "->",
        "@",
        "#",
        "{",
        "?",
    ),
]


@pytest.mark.long
@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_punctuation_stands_where_duckdb_finds_it(text: str) -> None:
    encoded = text.encode()
    starts = [len(encoded[:at].decode()) for at, kind in duckdb.tokenize(text) if kind == duckdb.token_type.operator]
    ours = [token.start for token in tokens(text) if token.kind is Kind.SYMBOL]

    def punctuation(places: list[int]) -> list[int]:
        # "$(" and "$)" are one operator to DuckDB, and an error wherever they stand.
        return [at for at in places if text[at] in ";()" and text[at - 1 : at + 1] not in ("$(", "$)")]

    assert punctuation(ours) == punctuation(starts)


@given(st.text())
def test_any_text_can_be_split(text: str) -> None:
    end = 0
    for piece in split(text):
        assert piece.start >= end
        assert text[piece.start : piece.end] == piece.text != ""
        end = piece.end


def test_reserved_words_are_duckdbs() -> None:
    words = {word for (word,) in duckdb.execute("select distinct keyword_name from duckdb_keywords()").fetchall()}

    def names_a_column(word: str) -> bool:
        try:
            duckdb.extract_statements(f"create table t ({word} int)")
        except duckdb.ParserException:
            return False
        return True

    assert {word for word in words if not names_a_column(word)} == RESERVED


def test_a_piece_knows_its_place() -> None:
    script = "-- head\n\n  select 1 /* in; */ + 1 -- tail\n ; \tselect\n'é🦆'  ;\r\n select 3"
    pieces = list(split(script))
    assert [piece.text for piece in pieces] == ["select 1 /* in; */ + 1", "select\n'é🦆'", "select 3"]
    assert [piece.position for piece in pieces] == [Position(3, 3), Position(4, 5), Position(6, 2)]
    assert [script[piece.start : piece.end] for piece in pieces] == [piece.text for piece in pieces]


@pytest.mark.parametrize("text", ["", " \n", ";", ";;", "-- only a comment", "/* ; */ ;"])
def test_empty_statements_are_left_out(text: str) -> None:
    assert list(split(text)) == []


@pytest.mark.parametrize(
    "text", ["select 'a; b", 'select "a; b', "select $$ a; $ b", "select `a;", "select E'\\';", "1 /* ; /* */"]
)
def test_what_is_never_closed_goes_to_duckdb_as_one(text: str) -> None:
    assert parse_script(f"select 1; {text}") == [PassThrough("select 1"), PassThrough(text)]


@pytest.mark.parametrize(
    "text", ["select 1;", "a; b ; ", "select ';' ; -- done;", "", "  \n", "-- nothing yet", "x;/* y */"]
)
def test_complete(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "a; b",
        "select ';",
        "select 1 -- ;",
        "select 1 /* ;",
        "select 1; /* open",
        "$$ a;",
        'x "a;',
        "E'\\';",
    ],
)
def test_incomplete(text: str) -> None:
    assert not is_complete(text)


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [
        "select a, 'b;' /* c */ from t where x = 1.5;\n",
        "'",
        "$a$b",
        "/*",
        "/**/",
        "(",
        "e'",
        "a1_$",
        "--\n",
        ";;a",
        '"',
    ],
)
def test_time_grows_with_the_length(unit: str) -> None:
    text = unit * (1_000_000 // len(unit) + 1)
    began = time.process_time()
    parse_script(text)
    assert time.process_time() - began < 15  # seconds at worst; were it quadratic, hours

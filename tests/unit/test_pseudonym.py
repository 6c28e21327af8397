"""Pseudonyms against HMAC-SHA-256 computed from its definition, and what their loader leaves behind."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from types import ModuleType, SimpleNamespace
from uuid import UUID

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon
from sqlanon.engines import udfs
from sqlanon.engines.adbc import require_pyarrow
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import InternalError, SqlanonError, UserError
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.render import drop

KEY = b"a key of thirty-two bytes, \x00\xff...."
VALUES = ["Ada", "Ada", "", None, "Żółć 日本 🙂", 'o\'Hara "x" \\ \x00 \n', None, "x" * 10_000]


def defined_hmac(key: bytes, message: bytes) -> bytes:
    """RFC 2104, section 2, written out: H(K xor opad, H(K xor ipad, text)) with blocks of 64 bytes."""
    block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).digest()


def expected(value: str | None, key: bytes) -> str | None:
    return None if value is None else defined_hmac(key, value.encode()).hex()[:32]


def keyed(value: str | None, key: bytes = KEY) -> UUID | None:
    """By the other way to give BLAKE2b a key: all at once."""
    if value is None:
        return None
    return UUID(bytes=hashlib.blake2b(value.encode(), key=key, digest_size=16).digest())


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("values", [VALUES, [], [None, None], ["Ada"], ["a", None]])
def test_a_keyed_digest_is_blake2b_of_the_text(values: list[str | None], text: pa.DataType) -> None:
    digests = udfs.load("keyed_digest").keyed_digest(pa.array(values, type=text), KEY)
    assert digests.type == pa.uuid()
    assert digests.to_pylist() == [keyed(value) for value in values]


def pseudonym(values: pa.Array | pa.ChunkedArray, key: bytes) -> list[str | None]:
    result = udfs.load("pseudonym").pseudonym(values, key)
    assert result.type == pa.string()
    tokens: list[str | None] = result.to_pylist()
    return tokens


def test_the_published_test_vectors_hold() -> None:
    # RFC 4231, test cases 2 and 3 (the second has bytes that are no text), checked on the reference above
    # and, where the message is a text, on the function.
    first = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    third = "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    assert defined_hmac(b"Jefe", b"what do ya want for nothing?").hex() == first
    assert defined_hmac(b"\xaa" * 20, b"\xdd" * 50).hex() == third
    assert pseudonym(pa.array(["what do ya want for nothing?"]), b"Jefe") == [first[:32]]


@pytest.mark.long
@given(st.lists(st.none() | st.text(st.characters(codec="utf-8"))), st.binary(min_size=1, max_size=100))
def test_a_token_is_the_shortened_hmac_of_the_text(values: list[str | None], key: bytes) -> None:
    assert pseudonym(pa.array(values, type=pa.string()), key) == [expected(value, key) for value in values]


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_every_arrow_text_type_gives_the_same_tokens(text: pa.DataType) -> None:
    chunked = pa.chunked_array([pa.array(VALUES[:3], type=text), pa.array(VALUES[3:], type=text)])
    assert pseudonym(chunked, KEY) == [expected(value, KEY) for value in VALUES]


def test_another_key_links_nothing() -> None:
    tokens = [set(pseudonym(pa.array(["Ada", "Grace", ""]), key)) for key in (KEY, KEY + b"!", KEY[:-1])]
    assert len(set.union(*tokens)) == 9


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    connection = duckdb.connect()
    connection.execute('CREATE TABLE people ("the ""name""" VARCHAR)')
    connection.executemany("INSERT INTO people VALUES (?)", [(value,) for value in VALUES])
    connection.execute("INSERT INTO people SELECT i % 5000 FROM range(20000) r(i)")
    yield DuckDBEngine(connection)
    connection.close()


PEOPLE = exp.select(alias(column('the "name"'), "value")).from_(relation("people"))
TARGET = "the \"token\"s of 'select'"


def target_rows(engine: DuckDBEngine) -> list[tuple[str | None, str | None]]:
    return engine.rows(exp.select(column("value"), column("token")).from_(relation(("temp", "main", TARGET))))


def leftovers(engine: DuckDBEngine) -> list[tuple[str]]:
    """Functions and temporary tables that the loader should have taken away."""
    return engine.rows(
        "SELECT function_name FROM duckdb_functions() WHERE function_name LIKE 'udf\\_%' ESCAPE '\\' "
        "UNION ALL SELECT table_name FROM duckdb_tables() WHERE temporary"
    )


@pytest.mark.parametrize("in_transaction", [False, True])
def test_tokens_has_one_row_a_distinct_value_and_null(engine: DuckDBEngine, in_transaction: bool) -> None:
    if in_transaction:
        with engine.transaction():
            udfs.tokens(engine, PEOPLE, TARGET, KEY)
    else:
        udfs.tokens(engine, PEOPLE, TARGET, KEY)
    rows = target_rows(engine)
    values = {*VALUES, *(str(i) for i in range(5000))}
    assert len(rows) == len(values)
    assert dict(rows) == {value: expected(value, KEY) for value in values}
    assert leftovers(engine) == [(TARGET,)]


def test_each_distinct_value_is_computed_once(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []
    real = udfs.load("pseudonym")

    def counting(values: pa.ChunkedArray, key: bytes) -> pa.Array:
        seen.extend(values.to_pylist())
        return real.pseudonym(values, key)

    monkeypatch.setattr(udfs, "load", lambda name: plugin(counting))
    udfs.tokens(engine, PEOPLE, TARGET, KEY)
    assert len(seen) == len(set(seen)) == len(target_rows(engine))


def plugin(function: object) -> ModuleType | SimpleNamespace:
    return SimpleNamespace(pseudonym=function, PARAMETERS=("VARCHAR",), RETURNS="VARCHAR")


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_failing_function_leaves_nothing_and_names_no_value(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch, in_transaction: bool
) -> None:
    def failing(values: pa.ChunkedArray, key: bytes) -> pa.Array:
        raise ValueError(f"{key!r} {values.to_pylist()}")

    monkeypatch.setattr(udfs, "load", lambda name: plugin(failing))
    if in_transaction:
        engine.run("BEGIN TRANSACTION")
    with pytest.raises(InternalError) as caught:
        udfs.tokens(engine, PEOPLE, TARGET, KEY)
    assert str(caught.value) == "the function pseudonym failed with ValueError"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert leftovers(engine) == []
    if in_transaction:
        engine.run("COMMIT")  # the transaction was not aborted: nothing else in it is lost
    assert engine.rows("SELECT count(*) FROM people") == [(20_000 + len(VALUES),)]


def test_a_failing_query_keeps_its_own_error_and_forgets_the_key(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound: list[dict[str, object]] = []
    real = udfs._silent

    def spy(function: object, arguments: dict[str, object], *others: object) -> object:
        bound.append(arguments)
        return real(function, arguments, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(udfs, "_silent", spy)
    engine.run("BEGIN TRANSACTION")
    with pytest.raises(SqlanonError, match="nowhere"):
        udfs.tokens(engine, exp.select(column("value")).from_(relation("nowhere")), TARGET, KEY)
    assert bound == [{}]
    engine.run("ROLLBACK")
    assert leftovers(engine) == []


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", udfs.names())
def test_without_arrow(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A function does the same for a single value, or says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    if name == "pseudonym":
        udfs.tokens(engine, PEOPLE, TARGET, KEY)
        tokens = dict(engine.rows(exp.select(column("value"), column("token")).from_(relation(TARGET))))
        assert tokens == {value: expected(value, KEY) for value in tokens}
        assert len(tokens) > 1
        engine.run(drop("TABLE", relation(TARGET)))
    elif name == "keyed_digest":
        with udfs.registered(engine, name, key=KEY) as function:
            digest = exp.Anonymous(this=function, expressions=[column("value")])
            digests = dict(engine.rows(exp.select(column("value"), digest).from_(PEOPLE.subquery("people"))))
        assert digests == {value: keyed(value) for value in digests}
        assert len(digests) > 1
    elif name == "random_draw":
        with udfs.registered(engine, name) as function:
            draw = exp.Anonymous(this=function, expressions=[exp.Literal.number(0)])
            draws = engine.rows(exp.select(draw).from_("range(100)"))
        assert len({number for (number,) in draws}) == 100
    elif name == "mask":
        with udfs.registered(engine, name, masked=lambda text: f"<{text}>") as function:
            masked = exp.Anonymous(this=function, expressions=[column("value")])
            masks = dict(engine.rows(exp.select(column("value"), masked).from_(PEOPLE.subquery("people"))))
        assert masks == {value: None if value is None else f"<{value}>" for value in masks}
        assert len(masks) > 1
    else:
        with (
            pytest.raises(UserError, match="needs pyarrow, which is not installed") as refused,
            udfs.registered(engine, name),
        ):
            pass
        assert "sqlanon[arrow]" in str(refused.value.hint)
    assert leftovers(engine) == []


def test_the_key_is_in_no_sql_text(engine: DuckDBEngine) -> None:
    texts: list[str] = []
    key = b"printable-key-of-this-release"
    udfs.tokens(DuckDBEngine(engine.connection, texts.append), PEOPLE, TARGET, key)
    assert len(texts) == 1
    assert "printable" not in texts[0]
    assert key.hex() not in texts[0]


def test_a_table_of_that_name_is_not_replaced(engine: DuckDBEngine) -> None:
    udfs.tokens(engine, PEOPLE, TARGET, KEY)
    before = set(target_rows(engine))
    with pytest.raises(SqlanonError, match="already exists"):
        udfs.tokens(engine, PEOPLE, TARGET, KEY + b"!")
    assert set(target_rows(engine)) == before


def test_keys_are_drawn_anew_or_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {udfs.release_key() for _ in range(100)}
    assert len(drawn) == 100
    assert {len(key) for key in drawn} == {32}
    monkeypatch.setenv("SQLANON_TEST_KEY", "sixteen bytes ok")
    assert udfs.release_key("SQLANON_TEST_KEY") == b"sixteen bytes ok"


@pytest.mark.parametrize("key", [None, "", "fifteen bytes -"])
def test_a_missing_or_short_key_is_the_users_mistake(monkeypatch: pytest.MonkeyPatch, key: str | None) -> None:
    monkeypatch.delenv("SQLANON_TEST_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("SQLANON_TEST_KEY", key)
    with pytest.raises(UserError, match=r"SQLANON_TEST_KEY.*(not set|shorter than 16 bytes)") as caught:
        udfs.release_key("SQLANON_TEST_KEY")
    assert "openssl rand -hex 32" in str(caught.value)
    assert not key or key not in str(caught.value)


def test_an_unknown_function_is_reported() -> None:
    assert "pseudonym" in udfs.names()
    with pytest.raises(InternalError, match=r"udfs/nothing\.py"):
        udfs.load("nothing")
    with pytest.raises(InternalError, match=r"udfs/\.\./sqlanon/errors\.py"):
        udfs.load("../sqlanon/errors")


def test_a_moment_with_a_time_zone_has_one_token_in_every_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_TOKENS", "k" * 32)
    tokens = set()
    for zone in ("UTC", "Asia/Kathmandu"):
        con = sqlanon.connect()
        con.execute("SET TimeZone = 'UTC'")
        con.execute("CREATE TABLE seen (moment TIMESTAMPTZ, sex VARCHAR)")
        con.execute("INSERT INTO seen VALUES ('2026-03-01 12:00:00+00', 'F')")
        columns = "moment IDENTIFIER PSEUDONYM KEY 'KEY_OF_TOKENS', sex QUASI IDENTIFIER"
        con.execute(f"CREATE POLICY p ON seen ({columns}) REQUIRE k_anonymity(k => 1)")
        con.execute(f"SET TimeZone = '{zone}'")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        tokens.add(con.execute("SELECT moment FROM r").fetchall()[0])
    assert tokens == {(expected("2026-03-01 12:00:00", b"k" * 32),)}


def test_a_numpy_older_than_pyarrow_needs_is_said_to_be_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unfit(MetaPathFinder):
        """Fails as pyarrow's own compiled part does beside a NumPy that it does not fit."""

        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "pyarrow":
                raise ImportError("numpy.core.multiarray failed to import")

    monkeypatch.setattr(sys, "meta_path", [Unfit(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    said = r"pyarrow \S+ is installed, but cannot be imported with NumPy \S+, which may be too old"
    engine = DuckDBEngine(sqlanon.connect().duckdb)
    with pytest.raises(UserError, match=said), udfs.registered(engine, "random_draw"):
        pass
    with pytest.raises(UserError, match=said) as refused:
        require_pyarrow("FORMAT arrow")
    assert refused.value.hint == "pip install --upgrade numpy pyarrow"

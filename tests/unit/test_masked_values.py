"""MASK: the masks against FF1 written from its standard, and what a release, a view and the catalog tell of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import duckdb
import fastfpe
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon
from sqlanon import Connection, PolicyError, SqlanonError, UserError
from sqlanon.domain.policy import Mask
from sqlanon.domain.values import Value
from sqlanon.sources.masks import form_of, keyed_mask
from sqlanon.sql.build.names import column
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.cells.labels import keyless_mask
from tests.oracles import ff1

KEY = b"a key of at least 16 bytes"
NIST_KEY = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94"
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
# Length of the key, tweak, radix, text, result: the samples of NIST for FF1.
SAMPLES = [
    (32, "", 10, "0123456789", "2433477484"),
    (32, "39383736353433323130", 10, "0123456789", "6124200773"),
    (32, "3737373770717273373737", 36, "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (48, "", 10, "0123456789", "2830668132"),
    (48, "39383736353433323130", 10, "0123456789", "2496655549"),
    (48, "3737373770717273373737", 36, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
    (64, "", 10, "0123456789", "6657667009"),
    (64, "39383736353433323130", 10, "0123456789", "1001623463"),
    (64, "3737373770717273373737", 36, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
]
CARDS = ["4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009"]
texts = st.text(st.characters(codec="utf-8") | st.sampled_from("0189AZaz-"), max_size=40)


def mask_of(name: str, value: str, listed: Sequence[str] = (), **arguments: Value) -> str | None:
    return keyed_mask(Mask(name, arguments), KEY, listed)(value)


@pytest.mark.parametrize(("length", "tweak", "radix", "text", "result"), SAMPLES)
def test_ff1_has_the_samples_of_the_standard(length: int, tweak: str, radix: int, text: str, result: str) -> None:
    key, alphabet = NIST_KEY[:length], ALPHABET[:radix]
    assert fastfpe.ff1.encrypt(key, tweak, alphabet, text) == result
    digits = ff1.ff1(bytes.fromhex(key), bytes.fromhex(tweak), radix, [alphabet.index(c) for c in text])
    assert "".join(alphabet[digit] for digit in digits) == result


def test_the_worked_examples_hold() -> None:
    # E35 of the definitions, by a program that was written apart from this one.
    alphanumeric = ["AB-12345", "ab-12345", "8410073412", "Zürich-00417"]
    expected: list[str | None] = ["IU-21007", "je-79931", "0118772478", "Oüsfer-27951"]
    assert [mask_of("alphanumeric", value) for value in alphanumeric] == expected
    assert mask_of("card", CARDS[0]) == "4111 1116 0555 9163"
    assert mask_of("card", CARDS[0], first=8) == "4111 1111 0930 1815"
    accounts = ["DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02606"]
    expected = ["DE73356388228399634768", "GB05WUCG43062213081209", "FR1569860492917969651L64747"]
    assert [mask_of("iban", value) for value in accounts] == expected
    assert mask_of("phone", "+49 170 1234567") == "+494171504540"
    assert mask_of("phone", "(415) 555-0132", region="US") == "+13084942883"
    assert mask_of("phone", "06 12 34 56 78", region="FR") == "+33548010579"
    names = ["Ada", "Ben", "Cem", "Dora", "Eli"]
    chosen = [mask_of("choice", f"patient {i}", names) for i in range(8)]
    assert chosen == ["Ada", "Ada", "Dora", "Cem", "Eli", "Dora", "Ben", "Cem"]


@given(texts, st.binary(min_size=16, max_size=40))
def test_a_mask_of_letters_and_digits_is_ff1_on_their_number(text: str, key: bytes) -> None:
    for name, kinds in (("alphanumeric", "9Aa"), ("digits", "9")):
        masked = keyed_mask(Mask(name), key)(text)
        assert masked == ff1.masked(text, key, name, kinds)


@given(st.text(max_size=30), st.sampled_from(["", "x", "9" * 1001, "A" * 5000]))
def test_what_is_not_of_the_form_has_no_mask(text: str, other: str) -> None:
    for name in ("card", "iban", "phone"):
        assert mask_of(name, other) is None
        made = mask_of(name, text)
        assert made is None or mask_of(name, made) is not None
    assert mask_of("alphanumeric", other) is None


def luhn(digits: str) -> int:
    """The sum of a number's digits, each second one doubled and its digits added (ISO/IEC 7812-1)."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return sum(doubled) + sum(map(int, digits[::-2]))


@given(st.from_regex(r"\A[0-9]{12,18}\Z"), st.integers(0, 5))
def test_a_card_keeps_its_issuer_and_has_a_check_digit(digits: str, first: int) -> None:
    number = digits + str(-luhn(digits + "0") % 10)
    masked = mask_of("card", number, first=first)
    assert masked is not None
    assert masked[:first] == number[:first]
    assert luhn(masked) % 10 == 0
    inner = ff1.masked(number[first:-1], KEY, f"card:{number[:first]}", "9")
    assert masked[first:-1] == inner
    wrong = digits + str((int(number[-1]) + 1) % 10)
    assert mask_of("card", wrong, first=first) is None


@given(st.from_regex(r"\A[0-9]{18}\Z"))
def test_an_account_has_check_digits(account: str) -> None:
    check = 98 - int(account + "131400") % 97  # ISO 13616: D is 13, E is 14
    masked = mask_of("iban", f"DE{check:02d} {account}")
    assert masked is not None
    assert masked[4] == " "
    assert int(masked[5:] + "1314" + masked[2:4]) % 97 == 1
    assert masked[5:] == ff1.masked(account, KEY, "iban:DE")


def test_telephone_numbers_that_differ_have_masks_that_differ() -> None:
    import phonenumbers

    numbers = [f"+49 171 {number:07d}" for number in range(1, 40_000, 400)]
    masks = {mask_of("phone", number) for number in numbers}
    assert len(masks) == len(numbers)
    assert all(mask and phonenumbers.is_valid_number(phonenumbers.parse(mask)) for mask in masks)
    assert mask_of("phone", "0171 0000001", region="DE") == mask_of("phone", "+491710000001")
    assert mask_of("phone", "+49 171 0000001 ext. 5") is None


PEOPLE = """
CREATE TABLE people AS SELECT 'C-' || 10000 + i AS client, 'C-' || 10000 + (i + 1) % 40 AS partner,
    1000000 + i AS number, ['4111111111111111', '5500000000000004'][1 + i % 2] AS card,
    CASE WHEN i % 5 > 0 THEN 'john' || i || '@example.org' END AS mail, 20 + i % 4 AS age, 'Flu' AS ill
FROM range(40) AS t(i);
"""
POLICY = (
    "CREATE OR REPLACE POLICY p ON people ({columns}, age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2)"
)


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setenv("BANK_KEY", KEY.decode())
    monkeypatch.setenv("SHORT_KEY", "15 bytes here..")
    monkeypatch.delenv("NO_KEY", raising=False)
    connection = sqlanon.connect()
    connection.sql(PEOPLE)
    return connection


def release(con: Connection, columns: str, name: str = "r", method: str = "") -> list[tuple[object, ...]]:
    con.sql(POLICY.format(columns=columns))
    con.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY p {method}")
    return con.sql(f"FROM {name} ORDER BY ALL").fetchall()


def test_a_value_has_one_mask_in_columns_tables_and_releases(con: Connection) -> None:
    masks = "client IDENTIFIER MASK alphanumeric KEY 'BANK_KEY', partner IDENTIFIER MASK alphanumeric KEY 'BANK_KEY'"
    first = release(con, masks)
    assert {row[0] for row in first} == {mask_of("alphanumeric", f"C-{10000 + i}") for i in range(40)}
    assert {row[0] for row in first} == {row[1] for row in first}
    assert release(con, masks, "again") == first
    bucketed = release(con, masks, "a", "METHOD mondrian")
    assert {row[0] for row in bucketed} == {row[0] for row in first}


def test_without_a_key_each_release_has_other_masks_and_its_columns_the_same(con: Connection) -> None:
    masks = "client IDENTIFIER MASK alphanumeric, partner IDENTIFIER MASK alphanumeric"
    first, second = release(con, masks), release(con, masks, "again")
    assert {row[0] for row in first} == {row[1] for row in first}
    assert {row[0] for row in first}.isdisjoint(row[0] for row in second)


def test_numbers_and_nulls_are_masked_as_texts(con: Connection) -> None:
    rows = release(con, "number IDENTIFIER MASK digits KEY 'BANK_KEY', mail IDENTIFIER MASK email")
    assert {row[0] for row in rows} == {mask_of("digits", str(1000000 + i)) for i in range(40)}
    assert [row[1] for row in rows].count(None) == 8
    assert {row[1] for row in rows} == {None, "j***@example.org"}


def test_a_mask_counts_for_no_requirement(con: Connection) -> None:
    con.sql("CREATE OR REPLACE TABLE people AS SELECT * REPLACE ('C-10001' AS client) FROM people WHERE age = 20")
    with pytest.raises(SqlanonError):
        release(con, "client ENTITY MASK alphanumeric KEY 'BANK_KEY'")
    with pytest.raises(PolicyError, match="QUASI IDENTIFIER"):
        sqlanon.Policy("p", source="people", identifiers={"age": Mask("digits")}, require=sqlanon.KAnonymity(k=2))
    con.sql("CREATE OR REPLACE TABLE people AS SELECT * REPLACE ('C-1000' || number % 3 AS client) FROM people")
    assert len({row[0] for row in release(con, "client ENTITY MASK alphanumeric KEY 'BANK_KEY'")}) == 3


def stars(text: str | None, first: int, last: int, star: str) -> str | None:
    if text is None or len(text) <= first + last:
        return None if text is None else star * len(text)
    return text[:first] + star * (len(text) - first - last) + text[len(text) - last :]


def email(text: str | None, first: int) -> str | None:
    if text is None or text.find("@") < 1:
        return None if text is None else "***"
    local, domain = text.rsplit("@", 1)
    return (local[:first] if len(local) > first else "") + "***@" + domain


@pytest.fixture(scope="module")
def plain() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@given(st.none() | texts | st.text("ab@é. "), st.integers(0, 3), st.integers(0, 4))
@example("@b", 1, 0).via("no local part")
@example("a@b@c\n", 1, 0).via("two signs and a line")
@example("x" * 10_000, 3, 4).via("a long text")
def test_stars_are_as_they_are_defined(
    plain: duckdb.DuckDBPyConnection, value: str | None, first: int, last: int
) -> None:
    value = None if value is None else value.replace("\0", "")
    masks = [Mask("partial", {"first": first, "last": last, "with": "#"}), Mask("email", {"first": first})]
    query = exp.select(*(keyless_mask(mask, column("value")) for mask in masks)).from_("value")
    text = f"WITH value AS (SELECT ?::VARCHAR AS value) {to_sql(query)}"
    row = plain.execute(text, [value]).fetchone()
    assert row == (stars(value, first, last, "#"), email(value, first))


def test_a_live_view_shows_stars(con: Connection) -> None:
    con.sql(POLICY.format(columns="card IDENTIFIER MASK partial(last => 2), mail IDENTIFIER MASK email(first => 2)"))
    con.sql("CREATE ANONYMIZED VIEW v AS POLICY p")
    assert con.sql("SELECT DISTINCT card, mail FROM v ORDER BY ALL").fetchall() == [
        ("*" * 14 + end, mail) for end in ("04", "11") for mail in ("jo***@example.org", None)
    ]


REFUSED = {
    "age QUASI IDENTIFIER MASK digits": "MASK does not go with QUASI IDENTIFIER",
    "client IDENTIFIER MASK digits PSEUDONYM": "exclude each other",
    "client IDENTIFIER MASK hidden": "there is no mask hidden",
    "client IDENTIFIER MASK card(6)": "named arguments only",
    "client IDENTIFIER MASK card(last => 6)": "takes no argument last",
    "client IDENTIFIER MASK card(first => -1)": "first of the mask card is -1",
    "client IDENTIFIER MASK partial(with => 'ab')": "with of the mask partial",
    "client IDENTIFIER MASK phone(region => 'Germany')": "region of the mask phone",
    "client IDENTIFIER MASK choice": "needs a table",
    "client IDENTIFIER MASK email KEY 'BANK_KEY'": "uses no key",
    "client ENTITY MASK choice(from => people)": "several respondents one value",
    "client IDENTIFIER MASK alphanumeric KEY 'NO_KEY'": "NO_KEY, which should hold the key of the masks, is not set",
    "client IDENTIFIER MASK alphanumeric KEY 'SHORT_KEY'": "is shorter than 16 bytes",
    "client IDENTIFIER MASK digits KEY 'BANK_KEY'": "40 different values of client cannot be masked",
    "card IDENTIFIER MASK iban": "2 different values of card cannot be masked",
    "client IDENTIFIER MASK choice(from => people)": "one column of at least two texts",
    "client IDENTIFIER MASK choice(from => alone)": "one column of at least two texts",
    "client IDENTIFIER MASK choice(from => twice)": "one column of at least two texts",
}


@pytest.mark.parametrize("column", REFUSED)
def test_what_a_mask_cannot_be_is_refused(con: Connection, column: str) -> None:
    con.sql(
        "CREATE TABLE alone AS SELECT 'Ada' AS name; CREATE TABLE twice AS SELECT unnest(['Ada', 'Ben', 'Ada']) AS name"
    )
    with pytest.raises(UserError) as refused:
        release(con, column)
    assert REFUSED[column] in str(refused.value)
    assert refused.value.hint
    told = f"{refused.value} {refused.value.hint}"
    assert "C-10" not in told
    assert "4111" not in told


@pytest.mark.parametrize("kind", ["DATE", "DOUBLE", "VARCHAR[]", "BLOB", "BOOLEAN", "STRUCT(a VARCHAR)"])
def test_types_without_texts_are_refused(con: Connection, kind: str) -> None:
    con.sql(f"ALTER TABLE people ADD COLUMN other {kind}")
    with pytest.raises(PolicyError, match="MASK takes texts and whole numbers"):
        release(con, "other IDENTIFIER MASK alphanumeric")


def test_a_live_view_has_no_mask_that_needs_a_key(con: Connection) -> None:
    con.sql(POLICY.format(columns="client IDENTIFIER MASK alphanumeric KEY 'BANK_KEY'"))
    with pytest.raises(PolicyError, match="its text would contain the key") as refused:
        con.sql("CREATE ANONYMIZED VIEW v AS POLICY p")
    assert "LEFT JOIN" in str(refused.value.hint)


def test_nothing_of_the_key_or_the_values_is_stored(con: Connection) -> None:
    release(con, "client ENTITY MASK alphanumeric KEY 'BANK_KEY', card IDENTIFIER MASK card(first => 0)")
    con.sql("DROP TABLE people")
    tables = con.sql(
        "SELECT schema_name, table_name FROM duckdb_tables() UNION ALL SELECT schema_name, view_name "
        "FROM duckdb_views() WHERE NOT internal"
    ).fetchall()
    stored = "\n".join(str(con.sql(f'FROM "{schema}"."{name}"').fetchall()) for schema, name in tables)
    assert "4" in stored
    assert not [part for part in (KEY.decode(), "C-10001", "4111111111111111") if part in stored]


def test_a_policy_is_kept_with_its_masks(con: Connection) -> None:
    columns = "client ENTITY MASK alphanumeric KEY 'BANK_KEY', card IDENTIFIER MASK card(first => 8)"
    con.sql(POLICY.format(columns=columns))
    (text,) = [row[0] for row in con.sql("DESCRIBE POLICY p AS SQL").fetchall()]
    assert "\"client\" ENTITY MASK alphanumeric KEY 'BANK_KEY'" in text
    assert '"card" IDENTIFIER MASK card(first => 8)' in text
    kept = con.sql("SELECT mask FROM anon.policy_attribute WHERE mask IS NOT NULL").fetchall()
    assert [json.loads(row[0]) for row in kept] == [
        {"name": "alphanumeric"},
        {"name": "card", "arguments": {"first": 8}},
    ]
    con.sql("UPDATE anon.policy_attribute SET mask = '[]' WHERE mask IS NOT NULL")
    with pytest.raises(PolicyError, match="the mask of client"):
        con.sql("DESCRIBE POLICY p")


def test_an_object_says_what_the_statement_says(con: Connection) -> None:
    identifiers = {"card": Mask("card", {"first": 8}, key_variable="BANK_KEY"), "mail": Mask("email")}
    policy = sqlanon.Policy(
        "p", source="people", identifiers=identifiers, quasi_identifiers="age", require=sqlanon.KAnonymity(k=2)
    )
    assert "\"card\" IDENTIFIER MASK card(first => 8) KEY 'BANK_KEY'" in policy.sql()
    assert eval(repr(policy), {name: getattr(sqlanon, name) for name in sqlanon.__all__}).sql() == policy.sql()  # noqa: S307


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("client IDENTIFIER MASK alphanumeric KEY 'BANK_KEY'", "mask, key kept"),
        ("client IDENTIFIER MASK alphanumeric", "mask, key forgotten"),
        ("mail IDENTIFIER MASK email", "mask, no key"),
    ],
)
def test_a_certificate_calls_a_mask_a_pseudonym(con: Connection, tmp_path, columns: str, expected: str) -> None:
    release(con, columns)
    con.sql(f"EXPORT r TO '{tmp_path}/r'")
    certificate: Mapping[str, object] = json.loads((tmp_path / "r" / "certificate.json").read_text())
    assert expected in json.dumps(certificate)
    assert "BANK_KEY" not in json.dumps(certificate)
    page = (tmp_path / "r" / "certificate.md").read_text()
    assert "A mask is a pseudonym, not anonymity" in page
    assert "apart from the characters that a mask keeps" in page
    assert con.sql(f"CHECK '{tmp_path}/r/certificate.json'").fetchall()


def test_explain_names_the_mask_and_the_variable_of_its_key(con: Connection) -> None:
    con.sql(POLICY.format(columns="client IDENTIFIER MASK alphanumeric KEY 'BANK_KEY'"))
    told = str(con.sql("EXPLAIN ANONYMIZED TABLE r AS POLICY p").fetchall())
    assert "client: mask alphanumeric, keyed by BANK_KEY, 40 distinct values" in told
    assert KEY.decode() not in told


def test_a_check_counts_values_without_the_form_of_their_mask(con: Connection) -> None:
    release(con, "client IDENTIFIER MASK alphanumeric, card IDENTIFIER MASK card, mail IDENTIFIER MASK email")
    counts = {row[1]: row[3:] for row in con.sql("CHECK r").fetchall() if row[1].startswith("mask")}
    assert counts == dict.fromkeys(("mask_alphanumeric", "mask_card", "mask_email", "mask_nulls"), (0, 0, True))
    con.sql("UPDATE r SET card = '4111 1111 1111 1112' WHERE card = (SELECT min(card) FROM r)")
    counts = {row[1]: row[3:] for row in con.sql("CHECK r").fetchall() if row[1].startswith("mask")}
    assert counts["mask_card"] == (0, 1, False)


@pytest.mark.parametrize(
    ("mask", "fits", "others"),
    [
        (Mask("partial", {"first": 1, "last": 2}), ["a***bc", "***", "", "a*bc"], ["abcbc", "ab"]),
        (Mask("email", {"first": 1}), ["j***@x.org", "***@x", "***"], ["john***@x.org", "j@x.org", "***@x@y", ""]),
        (Mask("digits"), ["123456", "a123456"], ["12345", "abc"]),
        (Mask("alphanumeric"), ["AB-1234"], ["AB-1", ""]),
        (Mask("card"), ["4111 1111 1111 1111"], ["4111 1111 1111 1112", "4111x", ""]),
        (Mask("iban"), ["DE89370400440532013000"], ["DE88370400440532013000", "x"]),
        (Mask("phone"), ["+494171504540"], ["+49", "04171 504540", "x"]),
    ],
)
def test_the_form_of_a_mask(mask: Mask, fits: Sequence[str], others: Sequence[str]) -> None:
    has_form = form_of(mask)
    assert [text for text in [*fits, *others] if has_form(text)] == fits


@given(st.sampled_from(CARDS), st.text(st.sampled_from("0189AZaz-"), min_size=8, max_size=20))
@settings(max_examples=30)
def test_a_mask_has_the_form_of_its_mask(card: str, text: str) -> None:
    for name, value in (("card", card), ("alphanumeric", text), ("digits", text)):
        masked = mask_of(name, value)
        assert masked is None or form_of(Mask(name))(masked)

"""What PROFILE reads from the names of columns: their words, their parts, and words of six languages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import assets
from sqlanon.assess.profiling.categories import by_name, is_household
from sqlanon.assess.profiling.words import identifier_of, sensitive_subject, split, subjects, words_of
from tests.support.names import quoted

pytestmark = pytest.mark.drawn


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hiv2004", ["hiv"]),
        ("icd10_code", ["icd", "code"]),
        ("birthDate", ["birth", "date"]),
        ("sample.yr", ["sample", "yr"]),
        ("HbA1c", ["hb", "a1c"]),
        ("hba1c", ["hba1c"]),
        ("Straße Nr. 5", ["strasse", "nr"]),
        ("Prénom", ["prenom"]),
        ("2004", []),
        ("", []),
    ],
)
def test_a_name_is_split(name: str, words: list[str]) -> None:
    assert split(name) == words


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        *((name, "health") for name in ("hiv2004", "hivpos", "icd10_code", "bmi_w3", "cd4", "totmed", "sysbp82")),
        *((name, "health") for name in ("Krankheit", "maladie", "enfermedad", "malattia", "ziekte", "erkrankungsjahr")),
        *((name, "health") for name in ("hemo", "cd40", "cd4_w2", "cd820")),
        *(
            (name, "health")
            for name in ("wt.loss", "ph.karno", "cigs", "alk.phos", "mdvis", "prenatal_care", "disea", "trt")
        ),
        *((name, "offences and courts") for name in ("homicides", "time_served")),
        *((name, "births and deaths") for name in ("vlbw", "elbw")),
        *((name, "money") for name in ("deny", "tinc", "default", "is_default", "dole_amount", "on_dole")),
        *((name, "money") for name in ("lwage", "lprewage", "labinc", "faminc", "copay", "logincome", "lnw")),
        *((name, "money") for name in ("Jahresgehalt", "salaire_net", "sueldo", "reddito", "inkomen", "Bürgergeld")),
        *(
            (name, "births and deaths")
            for name in ("death", "yrdth", "todesursache", "décès", "fallecido", "overleden")
        ),
        *((name, "belief") for name in ("catholic", "Kirchensteuer", "syndicat", "partido", "vakbond", "protest")),
        *(
            (name, "offences and courts")
            for name in ("prison", "Vorstrafen", "condamné", "condena", "reato", "misdrijf")
        ),
        *((name, "sexuality and family planning") for name in ("usemeth", "pregnant", "schwanger", "zwanger")),
    ],
)
def test_subjects_of_names(name: str, subject: str) -> None:
    found = sensitive_subject(name)
    assert found is not None
    assert found[0] == subject


@pytest.mark.parametrize(
    "name",
    [
        *("sewage", "passage", "payload", "parity", "scoreboard", "reunion", "discount", "display", "method", "index"),
        *("contract", "sales", "incident", "password", "skill", "party_size", "expsq", "company", "radio", "session"),
        *("DoleLR", "default_value", "defaultLanguage", "sex", "cd", "tint"),
        *("educ", "married", "region", "hours", "height", "spain", "campaign", "again", "data", "std_dev"),
    ],
)
def test_names_without_a_subject(name: str) -> None:
    assert sensitive_subject(name) is None


@pytest.mark.parametrize(
    ("name", "category"),
    [
        *((name, "name") for name in ("vorname", "Nachname2", "apellidos", "cognome", "achternaam", "client_nom")),
        *((name, "address") for name in ("Straße", "direccion", "indirizzo")),
        *((name, "telephone number") for name in ("Telefonnummer", "phone2", "movil")),
        *((name, "social security number") for name in ("AHV-Nummer", "nif", "codiceFiscale", "BSN")),
        *((name, "household number") for name in ("Haushaltsnummer", "famid")),
        *((name, "place") for name in ("PLZ", "Wohnort", "ville", "código postal", "gemeente", "villnum")),
        *((name, "date") for name in ("geburtsdatum", "fecha_nacimiento")),
        *((name, "age") for name in ("Alter", "edad", "leeftijd")),
    ],
)
def test_identifiers_of_names(name: str, category: str) -> None:
    recognized = by_name(name)
    assert recognized is not None
    assert recognized.why.endswith(f" {category}")
    assert recognized.direct is (category not in ("place", "date", "age"))


@pytest.mark.parametrize(
    ("role", "names"),
    [
        (
            "identifier",
            "name surname firstname lastname maiden nachname vorname geburtsname nom prenom nombre apellido "
            "apellidos nome cognome naam voornaam achternaam email mail phone mobile fax telefon handy mobil "
            "courriel telephone correo telefono movil cellulare telefoon mobiel ssn nhs passport license "
            "steuerid personalausweis reisepass svnr krankenversicherung nir insee passeport carte_vitale dni "
            "nie nif pasaporte codice_fiscale passaporto bsn paspoort iban account mrn policy_no konto "
            "kreditkarte patientennummer aktenzeichen compte cuenta conto rekening address street strasse "
            "anschrift hausnummer adresse rue direccion calle indirizzo adres straat patientNachname "
            "hauptstrasse",
        ),
        (
            "place or date",
            "zip postcode city dob birth plz ort geburtsdatum code_postal ville naissance codigo_postal "
            "ciudad nacimiento citta nascita plaats geboorte",
        ),
        (
            "sensitive",
            "diagnosis icd disease medication hiv diagnose krankheit medikament befund diagnostic maladie "
            "medicament diagnostico enfermedad malattia farmaco ziekte religion ethnicity union party "
            "orientation salary income debt herkunft gewerkschaft partei gehalt einkommen syndicat parti "
            "salaire revenu etnia sindicato partido salario ingresos religione sindacato partito stipendio "
            "reddito godsdienst etniciteit vakbond partij salaris inkomen",
        ),
        (
            "nothing",
            "via cap carta carte card kaart tarjeta dossier expediente cartella portable posta nominal "
            "filename product_name via_admin carta_giochi card_type company_name hostname event_name",
        ),
    ],
)
def test_names_of_six_languages(role: str, names: str) -> None:
    for name in names.split():
        recognized = by_name(name)
        roles = recognized and ("identifier" if recognized.direct else "sensitive" if recognized.sensitive else "")
        assert (roles or ("nothing" if recognized is None else "place or date")) == role, name


def test_a_number_of_children_is_no_name() -> None:
    assert identifier_of("nombre_enfants") is None
    assert identifier_of("alter_ego") is None


def test_lists_say_where_they_are_from_and_have_words_once() -> None:
    for name in assets.listing("sql", "profile"):
        text = assets.read("sql", "profile", name)
        assert "# sources: " in text, name
        for line in text.splitlines():
            if not line.startswith("#"):
                head, _, words = line.partition(": ")
                assert head, line
                assert len(set(words.split())) == len(words.split()), line
    assert all(subject.words and subject.stems for subject in subjects())


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60))
def test_any_name_can_be_read(name: str) -> None:
    by_name(name)
    is_household(name)
    assert all(word == word.lower() and word for word in split(name) if word.isascii())
    assert words_of(name).strip("_") == words_of(name)


def test_a_household_number_is_no_quasi_identifier() -> None:
    con = sqlanon.connect()
    con.execute(
        "CREATE TABLE t AS SELECT (i * i) // 7 AS household, (i * i) // 9 AS hhid, i % 5 AS hh FROM range(300) AS r(i)"
    )
    roles = {row[1]: row[7] for row in con.execute("PROFILE t").fetchall() if row[0] == "column"}
    assert (roles["household"], roles["hhid"]) == ("IDENTIFIER", "IDENTIFIER")
    assert roles["hh"].startswith("QUASI IDENTIFIER")


def test_nothing_sensitive_is_asked_once_above_the_list() -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE t AS SELECT i % 7 AS a, i % 11 AS b, i % 13 AS c FROM range(400) AS r(i)")
    rows = con.execute("PROFILE t").fetchall()
    (policy,) = (row for row in rows if row[:2] == ("statement", "t"))
    assert policy[-1].count("is any of these what people would keep to themselves?") == 1
    assert "others may know it" not in str(rows)
    con.execute(f"CREATE TABLE u AS SELECT i % 7 AS a, i % 3 AS {quoted('Diagnose')} FROM range(400) AS r(i)")
    assert "keep to themselves?" not in str(con.execute("PROFILE u").fetchall())


def test_an_address_of_few_values_and_a_sex_that_a_diagnosis_tells_are_known() -> None:
    con = sqlanon.connect()
    con.execute("""
        CREATE TABLE t AS
        SELECT i % 23 AS ward, ['U', 'R'][1 + i * i % 7 % 2] AS address,
               ['ovary', 'prostate', 'womb'][1 + i % 3] AS diagnosis,
               ['f', 'm', 'f'][1 + i % 3] AS sex, CAST(i % 3 = 0 AS INTEGER) AS code
        FROM range(300) AS r(i)""")
    roles = {row[1]: row[7:] for row in con.execute("PROFILE t").fetchall() if row[0] == "column"}
    assert roles["diagnosis"][0] == "SENSITIVE"
    assert roles["address"][0].startswith("QUASI IDENTIFIER")
    assert roles["address"][1].startswith("its name says an address, and it has 2 different values")
    assert roles["sex"][0].startswith("QUASI IDENTIFIER")
    # Nothing says that this indicator of the diagnosis is anything else.
    assert roles["code"][0] == "SENSITIVE"
    con.execute("CREATE TABLE u AS SELECT 'Main Street ' || i % 30 AS address FROM range(300) AS r(i)")
    (address,) = (row for row in con.execute("PROFILE u").fetchall() if row[:2] == ("column", "address"))
    assert address[7] == "IDENTIFIER"


def test_comments_on_columns_are_read_as_a_codebook() -> None:
    con = sqlanon.connect()
    con.execute("""
        CREATE TABLE t AS SELECT i % 9 AS q17, i % 7 AS m1, i % 5 AS r3, i % 4 AS ward, i % 3 AS age
        FROM range(90) AS r(i);
        COMMENT ON COLUMN t.q17 IS 'Ever had a diagnosis of depression'; COMMENT ON COLUMN t.m1 IS 'HIV: ''result''';
        COMMENT ON COLUMN t.r3 IS 'Number of rooms'; COMMENT ON COLUMN t.age IS '';
        CREATE VIEW v AS FROM t; COMMENT ON COLUMN v.q17 IS 'Income of the family'""")
    roles = {row[1]: row[7:] for row in con.execute("PROFILE t").fetchall() if row[0] == "column"}
    assert roles["q17"][0] == roles["m1"][0] == "SENSITIVE"
    assert roles["q17"][1].startswith("its comment has a word of health: ")
    assert {roles[name][0].partition(" USING")[0] for name in ("r3", "ward", "age")} == {"QUASI IDENTIFIER"}
    of_view = {row[1]: row[7:] for row in con.execute("PROFILE v").fetchall() if row[0] == "column"}
    assert of_view["q17"][1].startswith("its comment has a word of money: ")
    assert of_view["m1"][0].startswith("QUASI IDENTIFIER")

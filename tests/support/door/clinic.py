"""A database with a source, its releases and what else a reader must not see, and ways to ask it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import sqlanon
from sqlanon.domain.values import QualifiedName

# Each is in the source, a file, the environment or the catalog, and in no release.
CANARIES = (
    "Canaryosis",  # the diagnosis of a patient who is withheld
    "99787",  # his postal code
    "1911-11-11",  # his date of birth
    "Quirina",  # an identifier
    "3017",  # the number of source rows
    "kestrel-file-7731",
    "merlin-env-5520",
    "osprey-note-4410",
    "hidden_shoe_size",  # a column that no release has
)
# Takes the place of the canaries that an attempt writes itself: the answers must be the same.
UNKNOWN = {"Canaryosis": "Cakaryosis", "99787": "99788", "3017": "3018", "1911-11-11": "1911-11-12"}
_ROWS = 3_017
GRANTED = {
    QualifiedName(("main", name)): ("born", "sex", "zip", "disease") for name in ("hospital_2026", "hospital_live")
}
# A reader's connection: read-only, without files, settings or variables of Python.
LOCKED: dict[str, Any] = {
    "enable_external_access": False,
    "lock_configuration": True,
    "python_enable_replacements": False,
    "autoload_known_extensions": False,
    "threads": 1,
}
_SOURCE = f"""
CREATE SCHEMA archive;
CREATE TYPE diseases AS ENUM ('Ulcer', 'Flu', 'Cold', 'Canaryosis');
CREATE SEQUENCE patient_ids START {_ROWS};
CREATE TABLE patients AS
SELECT 'Quirina ' || i AS name, DATE '1940-01-01' + (i % 4 * 365)::INTEGER AS born, ['F', 'M'][1 + i % 2] AS sex,
    (94100 + i % 5)::VARCHAR AS zip, ['Ulcer', 'Flu', 'Cold'][1 + i // 7 % 3] AS disease, 40 AS hidden_shoe_size
FROM range({_ROWS - 1}) AS r(i)
UNION ALL SELECT 'Quirina Zyx', DATE '1911-11-11', 'M', '99787', 'Canaryosis', 47;
CREATE TABLE archive.visits AS FROM patients;
CREATE TABLE kin AS SELECT 'osprey-note-4410' AS note;
CREATE TABLE staff AS SELECT 'osprey-note-4410' AS note;
CREATE TABLE strasse AS SELECT 'osprey-note-4410' AS note;
CREATE VIEW everyone_seen AS SELECT *, 'osprey-note-4410' AS note FROM patients;
COMMENT ON TABLE patients IS 'osprey-note-4410';
CREATE MACRO whole_source() AS TABLE SELECT * FROM patients;
CREATE MACRO owner_note() AS (SELECT min(disease) FROM patients);
CREATE MACRO sensitive_notes(x) AS 'osprey-note-4410';
"""
# Made after the releases, because sqlanon makes none beside a macro with the name of a built-in function.
_MACRO = "CREATE MACRO archive.upper(x) AS (SELECT min(disease) FROM patients)"
# The gate cannot tell such a macro from the function: a room has no macros.
SHADOWING_MACRO = "CREATE MACRO median(x) AS (SELECT min(disease) FROM patients)"
_RELEASES = """
CREATE POLICY study ON patients (
    name IDENTIFIER, hidden_shoe_size IDENTIFIER, born QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER,
    disease SENSITIVE
) REQUIRE k_anonymity(k => 5);
CREATE ANONYMIZED TABLE hospital_2026 AS POLICY study;
CREATE ANONYMIZED VIEW hospital_live AS POLICY study;
"""


@dataclass(frozen=True)
class Clinic:
    """The files: the source with its releases, a room with the releases alone, and a file that is nobody's business."""

    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "source" / "clinic.duckdb"

    @property
    def room(self) -> Path:
        return self.folder / "room" / "room.duckdb"

    @property
    def secret(self) -> Path:
        return self.folder / "source" / "secret.csv"

    def filled(self, attempt: str) -> str:
        """Returns an attempt with the paths of this clinic."""
        places = {"database": self.database, "secret": self.secret, "folder": self.secret.parent, "room": self.room}
        return re.sub(r"\{(database|secret|folder|room)\}", lambda hole: str(places[hole[1]]), attempt)


def make(folder: Path) -> Clinic:
    """Makes the source, its releases, the secret file and a room."""
    clinic = Clinic(folder)
    clinic.database.parent.mkdir()
    clinic.room.parent.mkdir()
    clinic.secret.write_text("kestrel-file-7731\n", encoding="utf-8")
    with sqlanon.connect(str(clinic.database)) as connection:
        connection.execute(_SOURCE)
        connection.execute(_RELEASES)
    with closing(duckdb.connect(str(clinic.database))) as database:
        database.execute(_MACRO)
    with closing(duckdb.connect(str(clinic.room))) as room:
        room.execute(f"ATTACH '{clinic.database}' AS source (READ_ONLY)")
        for name in GRANTED:
            room.execute(f"CREATE TABLE {name.name} AS FROM source.{name} ORDER BY random()")
    return clinic


def answer(connection: duckdb.DuckDBPyConnection, statement: str, parameters: Sequence[object] = ()) -> str:
    """Returns what a reader sees of a statement: names and at most 4,000 rows, or the error."""
    source_frame = {"disease": np.array(["Canaryosis"])}  # a variable beside the connection
    assert source_frame
    try:
        result = connection.execute(statement, list(parameters))
        names = [column[0] for column in result.description or []]
        return "\n".join([*names, *(text_of(value) for row in result.fetchmany(4_000) for value in row)])
    except Exception as error:  # whatever it is, the reader would see it
        return f"{type(error).__name__}: {error}"


def text_of(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def shown(answers: str, statement: str) -> list[str]:
    """Returns the canaries that an answer shows and the statement did not write itself."""
    found = [canary for canary in CANARIES if canary in answers and canary not in statement]
    return [canary for canary in found if re.search(rf"(?<![\d.]){canary}(?!\d)", answers)]


def leaks(connection: duckdb.DuckDBPyConnection, statement: str) -> list[str]:
    """Returns what a statement's answer on a connection tells a reader of the source and of all else."""
    return leaks_of(lambda text, parameters: answer(connection, text, ["x"] * parameters), statement)


def leaks_of(ask: Callable[[str, int], str], statement: str) -> list[str]:
    """Returns what a statement's answer tells a reader; `ask` takes a statement and the number of its parameters.

    A statement that writes a canary itself leaks if its answer changes with another word in its place.
    """
    parameters = len(re.findall(r"\?|\$1", statement))
    answers = ask(statement, parameters)
    found = shown(answers, statement)
    for canary, unknown in UNKNOWN.items():
        if canary in statement:
            other = ask(statement.replace(canary, unknown), parameters)
            if other.replace(unknown, canary) != answers:
                found.append(f"{canary} or {unknown}")
    return found

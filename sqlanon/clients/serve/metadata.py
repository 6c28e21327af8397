"""Answers to Flight SQL's commands about catalogs, schemas, tables and types: only about the reader's own room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from sqlanon import __version__
from sqlanon.clients.serve.rooms import Room
from sqlanon.clients.serve.wire import Command

_KIND = "TABLE"
# A statement names no catalog, so the one that clients list has no name.
_CATALOG = ""


def _schema(*columns: tuple[str, Any] | tuple[str, Any, bool]) -> pa.Schema:
    """Returns a schema; a column whose third part is False has no NULL."""
    return pa.schema([pa.field(*column) for column in columns])


_NAME, _ALWAYS = pa.utf8(), False
_CATALOGS = _schema(("catalog_name", _NAME, _ALWAYS))
_SCHEMAS = _schema(("catalog_name", _NAME), ("db_schema_name", _NAME, _ALWAYS))
_TABLES = _schema(
    ("catalog_name", _NAME),
    ("db_schema_name", _NAME),
    ("table_name", _NAME, _ALWAYS),
    ("table_type", _NAME, _ALWAYS),
)
_TABLES_WITH_SCHEMA = _TABLES.append(pa.field("table_schema", pa.binary(), _ALWAYS))
_TABLE_TYPES = _schema(("table_type", _NAME, _ALWAYS))
_PRIMARY_KEYS = _schema(
    ("catalog_name", _NAME),
    ("db_schema_name", _NAME),
    ("table_name", _NAME, _ALWAYS),
    ("column_name", _NAME, _ALWAYS),
    ("key_name", _NAME),
    ("key_sequence", pa.int32(), _ALWAYS),
)
_FOREIGN_KEYS = _schema(
    ("pk_catalog_name", _NAME),
    ("pk_db_schema_name", _NAME),
    ("pk_table_name", _NAME, _ALWAYS),
    ("pk_column_name", _NAME, _ALWAYS),
    ("fk_catalog_name", _NAME),
    ("fk_db_schema_name", _NAME),
    ("fk_table_name", _NAME, _ALWAYS),
    ("fk_column_name", _NAME, _ALWAYS),
    ("key_sequence", pa.int32(), _ALWAYS),
    ("fk_key_name", _NAME),
    ("pk_key_name", _NAME),
    ("update_rule", pa.uint8(), _ALWAYS),
    ("delete_rule", pa.uint8(), _ALWAYS),
)
_TYPES = _schema(
    ("type_name", _NAME, _ALWAYS),
    ("data_type", pa.int32(), _ALWAYS),
    ("column_size", pa.int32()),
    ("literal_prefix", _NAME),
    ("literal_suffix", _NAME),
    ("create_params", pa.list_(pa.field("item", _NAME, False))),
    ("nullable", pa.int32(), _ALWAYS),
    ("case_sensitive", pa.bool_(), _ALWAYS),
    ("searchable", pa.int32(), _ALWAYS),
    ("unsigned_attribute", pa.bool_()),
    ("fixed_prec_scale", pa.bool_(), _ALWAYS),
    ("auto_increment", pa.bool_()),
    ("local_type_name", _NAME),
    ("minimum_scale", pa.int32()),
    ("maximum_scale", pa.int32()),
    ("sql_data_type", pa.int32(), _ALWAYS),
    ("datetime_subcode", pa.int32()),
    ("num_prec_radix", pa.int32()),
    ("interval_precision", pa.int32()),
)
_INFO_VALUE = pa.dense_union(
    [
        pa.field("string_value", pa.utf8()),
        pa.field("bool_value", pa.bool_()),
        pa.field("bigint_value", pa.int64()),
        pa.field("int32_bitmask", pa.int32()),
        pa.field("string_list", pa.list_(pa.utf8())),
        pa.field("int32_to_int32_list_map", pa.map_(pa.int32(), pa.list_(pa.int32()))),
    ]
)
_INFO = _schema(("info_name", pa.uint32(), _ALWAYS), ("value", _INFO_VALUE, _ALWAYS))

# SqlInfo of FlightSql.proto: the server and what it does not do, and how names are written.
_FACTS: Mapping[int, str | bool | int] = {
    0: "sqlanon",
    1: __version__,
    2: str(pa.__version__),
    3: True,  # read only
    4: True,  # SQL
    5: False,  # Substrait
    8: 0,  # no transactions
    9: False,  # no cancelling
    10: False,  # no ingestion
    500: False,
    501: False,
    502: False,
    503: 1,  # the case of names does not matter
    504: '"',
    505: 1,
    508: "",
    512: "",
}
_INFO_COLUMNS = {str: 0, bool: 1, int: 2}

# Name, number in JDBC, precision, quote and radix of the types that releases have most.
_LISTED_TYPES = (
    ("BOOLEAN", 16, 1, None, None),
    ("TINYINT", -6, 3, None, 10),
    ("SMALLINT", 5, 5, None, 10),
    ("INTEGER", 4, 10, None, 10),
    ("BIGINT", -5, 19, None, 10),
    ("DECIMAL", 3, 38, None, 10),
    ("FLOAT", 7, 24, None, 2),
    ("DOUBLE", 8, 53, None, 2),
    ("VARCHAR", 12, None, "'", None),
    ("BLOB", -3, None, "'", None),
    ("DATE", 91, 10, "'", None),
    ("TIME", 92, 15, "'", None),
    ("TIMESTAMP", 93, 26, "'", None),
    ("TIMESTAMP WITH TIME ZONE", 2014, 32, "'", None),
)
_NULLABLE, _SEARCHABLE = 1, 3


def schema_of(command: Command) -> pa.Schema | None:
    """Returns the schema of the answer to a command; None for a command that is not about metadata."""
    if command.name == "CommandGetTables" and command.is_set(5):
        return _TABLES_WITH_SCHEMA
    known = _ANSWERS.get(command.name)
    return None if known is None else known[0]


def answer(command: Command, room: Room) -> pa.Table:
    """Returns the answer to a command about metadata, from the tables of a room."""
    schema = schema_of(command)
    assert schema is not None
    return pa.Table.from_batches([_ANSWERS[command.name][1](command, room, schema)], schema)


def _catalogs(command: Command, room: Room, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.array([_CATALOG])], schema=schema)


def _schemas(command: Command, room: Room, schema: pa.Schema) -> pa.RecordBatch:
    names = sorted({name.parts[0] for name in room.tables if _is_wanted(command, name.parts[0])})
    return pa.record_batch([pa.array([_CATALOG] * len(names), _NAME), pa.array(names, _NAME)], schema=schema)


def _is_wanted(command: Command, schema: str) -> bool:
    """Whether the filters of catalogs and schemas, the fields 1 and 2 of two commands, admit a schema."""
    return command.text(1) in (None, _CATALOG) and is_like(schema, command.text(2))


def _tables(command: Command, room: Room, schema: pa.Schema) -> pa.RecordBatch:
    kinds = command.texts(4)
    names = [
        name
        for name in sorted(room.tables, key=str)
        if _is_wanted(command, name.parts[0]) and is_like(name.name, command.text(3)) and (not kinds or _KIND in kinds)
    ]
    columns = [
        pa.array([_CATALOG] * len(names), _NAME),
        pa.array([name.parts[0] for name in names], _NAME),
        pa.array([name.name for name in names], _NAME),
        pa.array([_KIND] * len(names), _NAME),
    ]
    if command.is_set(5):
        schemas = [room.tables[name].schema.serialize().to_pybytes() for name in names]
        columns.append(pa.array(schemas, pa.binary()))
    return pa.record_batch(columns, schema=schema)


def _table_types(command: Command, room: Room, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.array([_KIND])], schema=schema)


def _none(command: Command, room: Room, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)


def _types(command: Command, room: Room, schema: pa.Schema) -> pa.RecordBatch:
    wanted = command.numbers(1)
    rows = []
    for name, number, size, quote, radix in _LISTED_TYPES:
        # A negative number is encoded in 64 bits.
        if not wanted or number in [value - (1 << 64) if value >> 63 else value for value in wanted]:
            text = {"literal_prefix": quote, "literal_suffix": quote, "case_sensitive": quote is not None}
            number_facts = {"data_type": number, "sql_data_type": number, "column_size": size, "num_prec_radix": radix}
            fixed = {"nullable": _NULLABLE, "searchable": _SEARCHABLE, "fixed_prec_scale": False}
            rows.append({"type_name": name, "local_type_name": name, **text, **number_facts, **fixed})
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def _info(command: Command, room: Room, schema: pa.Schema) -> pa.RecordBatch:
    wanted = command.numbers(1)
    facts = {name: value for name, value in _FACTS.items() if not wanted or name in wanted}
    values: list[list[object]] = [[], [], [], [], [], []]
    kinds, offsets = [], []
    for value in facts.values():
        kind = _INFO_COLUMNS[type(value)]
        kinds.append(kind)
        offsets.append(len(values[kind]))
        values[kind].append(value)
    union = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()),
        pa.array(offsets, pa.int32()),
        [pa.array(part, field.type) for part, field in zip(values, _INFO_VALUE, strict=True)],
        [field.name for field in _INFO_VALUE],
    )
    return pa.record_batch([pa.array(list(facts), pa.uint32()), union], schema=schema)


def is_like(text: str, pattern: str | None) -> bool:
    """Whether a text is like a pattern of SQL, where % is any text and _ is any character; None matches any text.

    The time grows at most with the product of the lengths.
    """
    if pattern is None:
        return True
    at = pattern_at = 0
    star, tried = -1, 0
    while at < len(text):
        if pattern_at < len(pattern) and pattern[pattern_at] == "%":
            star, tried = pattern_at, at
            pattern_at += 1
        elif pattern_at < len(pattern) and pattern[pattern_at] in ("_", text[at]):
            at, pattern_at = at + 1, pattern_at + 1
        elif star >= 0:
            tried += 1
            at, pattern_at = tried, star + 1
        else:
            return False
    return not pattern[pattern_at:].strip("%")


_Answers = Mapping[str, tuple[pa.Schema, Callable[[Command, Room, pa.Schema], pa.RecordBatch]]]
_ANSWERS: _Answers = {
    "CommandGetCatalogs": (_CATALOGS, _catalogs),
    "CommandGetDbSchemas": (_SCHEMAS, _schemas),
    "CommandGetTables": (_TABLES, _tables),
    "CommandGetTableTypes": (_TABLE_TYPES, _table_types),
    "CommandGetPrimaryKeys": (_PRIMARY_KEYS, _none),
    "CommandGetExportedKeys": (_FOREIGN_KEYS, _none),
    "CommandGetImportedKeys": (_FOREIGN_KEYS, _none),
    "CommandGetCrossReference": (_FOREIGN_KEYS, _none),
    "CommandGetXdbcTypeInfo": (_TYPES, _types),
    "CommandGetSqlInfo": (_INFO, _info),
}

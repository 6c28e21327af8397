"""A new database gets in one script the catalog that all migrations make one after the other."""

from __future__ import annotations

import duckdb
import pytest

from sqlanon.catalog import migrations
from sqlanon.catalog.migrations import Condition
from sqlanon.engines.duckdb import DuckDBEngine

# All that DuckDB says of a schema, but for the numbers of its entries and the text that a client would make it with.
DESCRIBED = {
    "schemas": "SELECT schema_name, comment FROM duckdb_schemas() WHERE NOT internal",
    "tables": "SELECT table_name, temporary, comment, column_count, estimated_size FROM duckdb_tables() ORDER BY ALL",
    "columns": "SELECT table_name, column_index, column_name, data_type, column_default, is_nullable, comment "
    "FROM duckdb_columns() WHERE NOT internal ORDER BY ALL",
    "constraints": "SELECT table_name, constraint_index, constraint_type, constraint_text, expression, "
    "constraint_column_names FROM duckdb_constraints() ORDER BY ALL",
    "views": "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
    "indexes": "SELECT index_name, sql FROM duckdb_indexes() ORDER BY ALL",
    "sequences": "SELECT sequence_name FROM duckdb_sequences() ORDER BY ALL",
    "types": "SELECT type_name FROM duckdb_types() WHERE NOT internal ORDER BY ALL",
    "functions": "SELECT function_name, macro_definition FROM duckdb_functions() WHERE NOT internal ORDER BY ALL",
    "versions": "SELECT version, slug, sha256, applied_at IS NOT NULL FROM anon.schema_version ORDER BY ALL",
    "texts": "SELECT table_name, sql FROM duckdb_tables() ORDER BY ALL",
}


@pytest.fixture(scope="module")
def catalogs():
    connections = {make: duckdb.connect() for make in (migrations.migrate, migrations.create)}
    for make, connection in connections.items():
        engine = DuckDBEngine(connection)
        with engine.transaction():
            make(engine)
    yield connections.values()
    for connection in connections.values():
        connection.close()


@pytest.mark.parametrize("described", DESCRIBED)
def test_a_new_catalog_is_what_the_migrations_make(catalogs, described):
    migrated, created = (connection.execute(DESCRIBED[described]).fetchall() for connection in catalogs)
    assert created == migrated


def test_a_new_catalog_is_current_and_has_no_rows(catalogs):
    for connection in catalogs:
        assert migrations.state(DuckDBEngine(connection)).condition is Condition.CURRENT
        tables = connection.execute("SELECT table_name FROM duckdb_tables() WHERE table_name <> 'schema_version'")
        names = [name for (name,) in tables.fetchall()]
        assert len(names) > 20
        assert all(connection.table(f"anon.{name}").fetchall() == [] for name in names)


def test_a_database_without_a_catalog_gets_it_at_once():
    """One script and one row for each migration, whatever number of migrations there are."""
    with duckdb.connect() as connection:
        sent = []
        migrations.create(DuckDBEngine(connection, sent.append))
        assert len([text for text in sent if "anon." in text]) == 2

-- What DuckDB's parser says of a text that it does not take for a SELECT, NULL for one that it does.
SELECT json_extract_string(CAST(json_serialize_sql($1) AS JSON), '$.error_message') AS message

-- The message of DuckDB's parser about a text that is not a SELECT, NULL for a SELECT.
SELECT json_extract_string(CAST(json_serialize_sql($1) AS JSON), '$.error_message') AS message

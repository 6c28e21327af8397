-- The messages of DuckDB's parser about texts: for each text that is not a SELECT its message, NULL for a SELECT.
SELECT
  list_transform(
    CAST($1 AS VARCHAR[]),
    lambda query: json_extract_string(CAST(json_serialize_sql(query) AS JSON), '$.error_message')
  ) AS messages

{{ config(materialized='table') }}
SELECT name COLLATE NOCASE AS name FROM (VALUES ('ann'), ('ANN')) AS t(name)

-- The rows of the source, each with n = 1, and the written rows, each with n = -1: the {columns} as {keys}, and n.
--
-- source, written: the {columns}. A row in both adds up to n = 0.
SELECT {columns} AS "{keys}", CAST(1 AS BIGINT) AS n FROM source
UNION ALL
SELECT {columns} AS "{keys}", CAST(-1 AS BIGINT) AS n FROM written

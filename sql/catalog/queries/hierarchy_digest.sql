-- The SHA-256 of a hierarchy's values and labels, and the numbers of its rows and levels. parameter: $1 the hierarchy's
-- name Rows are ordered by their bytes, independently of any collation setting.
SELECT
    sha256(
        coalesce(
            string_agg(
                to_json([level::VARCHAR, value, label])::VARCHAR,
                chr(10) ORDER BY level ASC NULLS LAST, encode(value) ASC NULLS FIRST, encode(label) ASC NULLS LAST
            ),
            ''
        )
    ) AS digest,
    count(*) AS listed,
    coalesce(max(level), 0) + 1 AS height
FROM anon.hierarchy_value
WHERE hierarchy = $1

-- The stored values of some hierarchies: the SHA-256 of their labels, their number of rows, the height that their levels
-- imply, and whether they are a hierarchy of this height, so that none of the checks in sql/catalog/checks finds anything.
-- parameter: $1 the hierarchies' names, a list
-- Rows are put in byte order, which no collation setting changes.
WITH labelled AS (
    SELECT
        hierarchy, value, level, label,
        lead(label) OVER (PARTITION BY hierarchy, value ORDER BY level ASC NULLS LAST) AS parent
    FROM anon.hierarchy_value
    WHERE list_contains($1, hierarchy)
), nested AS (
    -- Labels with a single label of the next level above them.
    SELECT hierarchy, bool_and(in_one) AS nested
    FROM (
        SELECT hierarchy, coalesce(min(parent) = max(parent), true) AS in_one
        FROM labelled
        GROUP BY hierarchy, level, label
    ) AS node
    GROUP BY hierarchy
), listed AS (
    SELECT
        hierarchy,
        sha256(
            string_agg(
                to_json([level::VARCHAR, value, label])::VARCHAR,
                chr(10) ORDER BY level ASC NULLS LAST, encode(value) ASC NULLS FIRST, encode(label) ASC NULLS LAST
            )
        ) AS digest,
        count(*) AS listed,
        max(level) + 1 AS height,
        count(DISTINCT value) + max(CASE WHEN value IS NULL THEN 1 ELSE 0 END) AS leaves,
        -- NULL is its own label, and the only value whose label may be NULL.
        bool_and(level >= 0 AND (label IS NOT NULL OR (value IS NULL AND level = 0))) AS named,
        bool_and(level <> 0 OR value IS NOT DISTINCT FROM label) AS own,
        count(DISTINCT struct_pack(value := value, level := level)) AS labels
    FROM labelled
    GROUP BY hierarchy
), otherwise AS (
    SELECT DISTINCT
        hierarchy,
        translate(hierarchy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') AS folded
    FROM anon.hierarchy_value
)
SELECT
    asked.hierarchy,
    coalesce(listed.digest, sha256('')) AS digest,
    coalesce(listed.listed, 0) AS listed,
    coalesce(listed.height, 1) AS height,
    -- Each value has one label at each level: there are as many as that, and none twice.
    coalesce(named AND own AND labels = listed.listed AND labels = leaves * listed.height AND nested.nested, false)
    AND NOT EXISTS (
        SELECT 1 FROM otherwise
        WHERE otherwise.hierarchy <> asked.hierarchy
            AND folded = translate(asked.hierarchy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
    ) AS sound
FROM (SELECT DISTINCT unnest($1) AS hierarchy) AS asked
LEFT JOIN listed ON listed.hierarchy = asked.hierarchy
LEFT JOIN nested ON nested.hierarchy = asked.hierarchy

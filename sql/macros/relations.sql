-- The normal relations of a table, as a macro computes them: each part is an item of the WITH list of its query.
-- Only the first parts read the user's tables, because names of later parts could hide a table of the user.

-- part: rows
WITH "__sqlanon_cell" AS (
  SELECT row($columns) AS class_id, $value AS value, $guard AS guard, count(*) AS n
  FROM $relation AS "__sqlanon_source"
  WHERE true OR $collations
  GROUP BY $columns, $value, $guard
)

-- part: rows_and_public_rows
-- Each quasi-identifier of both tables is cast to a type that can hold the values of both.
WITH "__sqlanon_both" AS (
  SELECT row($columns) AS class_id, true AS released, count(*) AS n
  FROM $relation AS "__sqlanon_source"
  WHERE true OR $collations
  GROUP BY $columns
  UNION ALL
  SELECT row($columns) AS class_id, false AS released, count(*) AS n
  FROM $against AS "__sqlanon_source"
  WHERE true OR $collations
  GROUP BY $columns
), "__sqlanon_cell" AS (
  SELECT class_id, n FROM "__sqlanon_both" WHERE released
)

-- part: ranges
, "__sqlanon_range" AS (
  SELECT "__sqlanon_source".value, "__sqlanon_source".low, "__sqlanon_source".high FROM $ranges AS "__sqlanon_source"
)

-- part: weights
-- A weight is a range whose ends are equal.
, "__sqlanon_range" AS (
  SELECT "__sqlanon_source".value, "__sqlanon_source".weight AS low, "__sqlanon_source".weight AS high
  FROM $ranges AS "__sqlanon_source"
)

-- part: triples
, "__sqlanon_range" AS (
  SELECT "__sqlanon_source".value, "__sqlanon_source".l, "__sqlanon_source".k, "__sqlanon_source".m
  FROM $ranges AS "__sqlanon_source"
)

-- part: hierarchy
, "__sqlanon_hierarchy" AS (
  SELECT hierarchy, kind, height FROM $database"anon".hierarchy
  WHERE translate(hierarchy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
    = translate($hierarchy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
), "__sqlanon_text" AS (
  SELECT value, level, label FROM $database"anon".hierarchy_value
  WHERE hierarchy IN (SELECT hierarchy FROM "__sqlanon_hierarchy")
), "__sqlanon_listed" AS (
  -- Each listed text as a value of the sensitive column's type; a text that cannot be cast occurs in no row.
  SELECT typed.value, typed.text, typed.level, typed.label
  FROM (
    SELECT TRY(cast_to_type(listed.value, sample.value)) AS value, listed.value AS text, listed.level, listed.label
    FROM "__sqlanon_text" AS listed
    CROSS JOIN (SELECT any_value(value) AS value FROM "__sqlanon_cell") AS sample
  ) AS typed
  WHERE typed.text IS NULL OR typed.value IS NOT NULL
)

-- part: equivalence_class
, equivalence_class AS (
  SELECT class_id, CAST(sum(n) AS BIGINT) AS size, CAST(sum(n) AS BIGINT) AS entities
  FROM "__sqlanon_cell"
  GROUP BY class_id
)

-- part: class_sensitive_value
-- Codes are in the order of the values. An ENUM is text, as it is in a release.
, "__sqlanon_code" AS (
  SELECT value, row_number() OVER (
    ORDER BY value IS NULL ASC NULLS LAST,
      CASE WHEN starts_with(typeof(value), 'ENUM') THEN CAST(value AS VARCHAR) END ASC NULLS LAST,
      value ASC NULLS LAST
  ) AS code
  FROM (SELECT DISTINCT value FROM "__sqlanon_cell") AS occurring
), class_sensitive_value AS (
  SELECT cell.class_id, coded.code AS value, CAST(sum(cell.n) AS BIGINT) AS n
  FROM "__sqlanon_cell" AS cell
  JOIN "__sqlanon_code" AS coded ON coded.value IS NOT DISTINCT FROM cell.value
  GROUP BY cell.class_id, coded.code
)

-- part: sensitive_value
, sensitive_value AS (
  SELECT value, CAST(sum(n) AS BIGINT) AS n FROM class_sensitive_value GROUP BY value
)

-- part: sensitive_ancestor
-- A node is named by the least value below it; NULL is on a branch of its own if the hierarchy does not list it.
, sensitive_ancestor AS (
  SELECT value, level, min(value) OVER (PARTITION BY level, branch, label) AS node
  FROM (
    SELECT coded.code AS value, levels.level, CASE WHEN listed.level IS NULL THEN coded.code ELSE 0 END AS branch,
      listed.label
    FROM "__sqlanon_code" AS coded
    CROSS JOIN (SELECT DISTINCT level FROM "__sqlanon_text") AS levels
    LEFT JOIN "__sqlanon_listed" AS listed
      ON listed.level = levels.level AND listed.value IS NOT DISTINCT FROM coded.value
  ) AS path
)

-- part: sensitive_number
-- The column's type decides how a value becomes a number. The value's text is cast, because DuckDB binds the casts of all branches,
-- and not every type can be cast to all of them. A number of more than 2 * 10^19 units becomes 2 * 10^19 units.
, "__sqlanon_typed" AS (
  SELECT code, CAST(value AS VARCHAR) AS text, typeof(value) AS kind,
    coalesce(TRY_CAST(regexp_extract(typeof(value), '^DECIMAL[(][0-9]+, ?([0-9]+)[)]', 1) AS INTEGER), 0) AS digits
  FROM "__sqlanon_code"
), "__sqlanon_measured" AS (
  SELECT code, text, kind, digits, CASE
      WHEN starts_with(kind, 'DATE') OR starts_with(kind, 'TIMESTAMP') THEN 'timestamp'
      WHEN digits <= 6 AND (starts_with(kind, 'DECIMAL')
        OR regexp_full_match(kind, 'U?(TINYINT|SMALLINT|INTEGER|BIGINT)|HUGEINT')) THEN 'whole'
      WHEN starts_with(kind, 'DECIMAL') OR kind IN ('FLOAT', 'DOUBLE', 'UHUGEINT', 'BIGNUM') THEN 'number'
    END AS measure
  FROM "__sqlanon_typed"
  WHERE NOT ends_with(kind, ']')
), sensitive_number AS (
  SELECT code AS value,
    CASE WHEN text IS NOT NULL THEN CASE measure
      WHEN 'timestamp' THEN CAST(epoch_us(TRY_CAST(text AS TIMESTAMP)) AS DECIMAL(38, 0))
      WHEN 'whole' THEN greatest(least(
        TRY_CAST(replace(text, '.', '') AS DECIMAL(38, 0)), CAST('20000000000000000000' AS DECIMAL(38, 0))),
        CAST('-20000000000000000000' AS DECIMAL(38, 0)))
      END END AS whole,
    CASE measure WHEN 'timestamp' THEN CAST(86400000000 AS DECIMAL(38, 0))
      WHEN 'whole' THEN CAST(CAST(10 AS BIGINT) ** digits AS DECIMAL(38, 0)) ELSE CAST(1 AS DECIMAL(38, 0)) END AS unit,
    CASE WHEN measure = 'number' AND kind = 'FLOAT' THEN CAST(TRY_CAST(text AS FLOAT) AS DOUBLE)
      WHEN measure = 'number' THEN TRY_CAST(text AS DOUBLE) END AS number
  FROM "__sqlanon_measured"
)

-- part: superset
-- A broader class hides some of the columns, because a macro does not know more general labels of their values.
, superset AS (
  SELECT cell.class_id, row(hidden.columns, $hidden) AS superset_id
  FROM equivalence_class AS cell
  CROSS JOIN (SELECT unnest(range($sets)) AS columns) AS hidden
)

-- part: value_range
-- A listed value that no row has gets a code that no row has, so it violates any positive least share.
, "__sqlanon_typed_range" AS (
  SELECT TRY(cast_to_type(CAST(ranges.value AS VARCHAR), sample.value)) AS value, CAST(ranges.value AS VARCHAR) AS text,
    TRY_CAST(ranges.low AS DOUBLE) AS low, TRY_CAST(ranges.high AS DOUBLE) AS high,
    coalesce(TRY_CAST(ranges.low AS DOUBLE) BETWEEN 0 AND 1, ranges.low IS NULL)
      AND coalesce(TRY_CAST(ranges.high AS DOUBLE) BETWEEN 0 AND 1, ranges.high IS NULL) AS bounded
  FROM "__sqlanon_range" AS ranges
  CROSS JOIN (SELECT any_value(value) AS value FROM "__sqlanon_cell") AS sample
), value_range AS (
  SELECT coalesce(coded.code, -row_number() OVER ()) AS value, typed.low, typed.high
  FROM "__sqlanon_typed_range" AS typed
  LEFT JOIN "__sqlanon_code" AS coded
    ON coded.value IS NOT DISTINCT FROM typed.value AND (typed.text IS NULL OR typed.value IS NOT NULL)
)

-- part: known_triple
-- NULL means every value. A triple with a value that no row has is left out.
, "__sqlanon_typed_triple" AS (
  SELECT row_number() OVER () AS place, TRY(cast_to_type(CAST(listed.value AS VARCHAR), sample.value)) AS value,
    CAST(listed.value AS VARCHAR) AS text, TRY_CAST(listed.l AS BIGINT) AS l, TRY_CAST(listed.k AS BIGINT) AS k,
    TRY_CAST(listed.m AS BIGINT) AS m,
    coalesce(TRY_CAST(listed.l AS BIGINT) BETWEEN 0 AND 1000000 AND TRY_CAST(listed.l AS BIGINT) = TRY_CAST(listed.l AS DOUBLE)
      AND TRY_CAST(listed.k AS BIGINT) BETWEEN 0 AND 1000000 AND TRY_CAST(listed.k AS BIGINT) = TRY_CAST(listed.k AS DOUBLE)
      AND TRY_CAST(listed.m AS BIGINT) BETWEEN 0 AND 8 AND TRY_CAST(listed.m AS BIGINT) = TRY_CAST(listed.m AS DOUBLE), false)
      AS bounded
  FROM "__sqlanon_range" AS listed
  CROSS JOIN (SELECT any_value(value) AS value FROM "__sqlanon_cell") AS sample
), known_triple AS (
  SELECT coded.code AS value, typed.l, typed.k, typed.m
  FROM "__sqlanon_typed_triple" AS typed
  LEFT JOIN "__sqlanon_code" AS coded ON coded.value = typed.value
  WHERE typed.text IS NULL OR coded.code IS NOT NULL
)

-- part: guarded
, "__sqlanon_guard" AS (
  SELECT guard, row_number() OVER (ORDER BY guard ASC NULLS LAST) AS node
  FROM (SELECT DISTINCT CAST(guard AS VARCHAR) AS guard FROM "__sqlanon_cell" WHERE guard IS NOT NULL) AS occurring
), guarded AS (
  SELECT DISTINCT cell.class_id, guards.node
  FROM "__sqlanon_cell" AS cell
  JOIN "__sqlanon_guard" AS guards ON guards.guard = CAST(cell.guard AS VARCHAR)
)

-- part: guarding_node
-- A label may be on several levels; then its most general node is the guarding node. '*', and a text that is not a label,
-- guard against every value.
, "__sqlanon_label" AS (
  SELECT code AS value, 0 AS level, CAST(value AS VARCHAR) AS label FROM "__sqlanon_code"
  UNION ALL
  SELECT coded.code AS value, listed.level,
    CASE WHEN listed.level = 0 THEN CAST(listed.value AS VARCHAR) ELSE listed.label END AS label
  FROM "__sqlanon_listed" AS listed
  LEFT JOIN "__sqlanon_code" AS coded ON coded.value IS NOT DISTINCT FROM listed.value
), "__sqlanon_meant" AS (
  SELECT guards.node, labels.value, labels.level, max(labels.level) OVER (PARTITION BY guards.node) AS highest
  FROM "__sqlanon_guard" AS guards
  JOIN "__sqlanon_label" AS labels ON labels.label = guards.guard
  WHERE guards.guard <> '*'
), guarding_node AS (
  SELECT node, value FROM "__sqlanon_meant" WHERE level = highest AND value IS NOT NULL
  UNION
  SELECT guards.node, coded.code AS value
  FROM "__sqlanon_guard" AS guards
  CROSS JOIN "__sqlanon_code" AS coded
  WHERE guards.node NOT IN (SELECT node FROM "__sqlanon_meant")
)

-- part: public_class
, public_class AS (
  SELECT class_id, CAST(sum(n) AS BIGINT) AS n FROM "__sqlanon_both" WHERE NOT released GROUP BY class_id
)

-- part: problem
, "__sqlanon_problem" AS ({{problems}})

-- part: no_problem
SELECT 0 AS place, NULL AS problem WHERE false

-- part: problem_of_hierarchy
SELECT 1 AS place, 'there is no hierarchy ' || $hierarchy AS problem
WHERE NOT EXISTS (SELECT 1 FROM "__sqlanon_hierarchy")
UNION ALL
SELECT 2 AS place, 'the hierarchy ' || $hierarchy || ' has ' || count(*) || ' rows in anon.hierarchy' AS problem
FROM "__sqlanon_hierarchy"
HAVING count(*) > 1
UNION ALL
SELECT 3 AS place, 'the labels of the hierarchy ' || $hierarchy || ' are computed and not stored: use CHECK' AS problem
FROM "__sqlanon_hierarchy"
WHERE lower(kind) NOT IN ({{stored_kinds}})
UNION ALL
SELECT 4 AS place, 'the hierarchy ' || $hierarchy || ' lists no values' AS problem
WHERE NOT EXISTS (SELECT 1 FROM "__sqlanon_text")
UNION ALL
SELECT 5 AS place, 'the hierarchy ' || $hierarchy || ' has another height in anon.hierarchy than its values' AS problem
FROM "__sqlanon_hierarchy"
WHERE height <> (SELECT max(level) + 1 FROM "__sqlanon_text")
UNION ALL
SELECT 7 AS place, 'the hierarchy ' || $hierarchy || ' lists a value under several texts: ' || min(text) AS problem
FROM "__sqlanon_listed"
GROUP BY value, level
HAVING count(*) > 1
UNION ALL
SELECT 8 AS place, 'the hierarchy ' || $hierarchy || ' lacks ' || count(*) || ' of the values, such as ' || min(text)
  AS problem
FROM (
  SELECT CAST(coded.value AS VARCHAR) AS text
  FROM "__sqlanon_code" AS coded
  WHERE coded.value IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM "__sqlanon_listed" AS listed WHERE listed.value IS NOT DISTINCT FROM coded.value
  )
) AS missing
HAVING count(*) > 0
{{checks}}

-- part: problem_of_hierarchy_values
UNION ALL
SELECT 6 AS place, 'the hierarchy ' || $hierarchy || ': {{title}}: ' || offender AS problem FROM ({{check}}) AS found

-- part: hierarchy_name
(SELECT min(hierarchy) FROM "__sqlanon_hierarchy")

-- part: hierarchy_values
$database"anon".hierarchy_value

-- part: hierarchy_height
(SELECT max(level) + 1 FROM "__sqlanon_text")

-- part: problem_of_numbers
SELECT 1 AS place, 'the values are of type ' || any_value(kind) || ', and numbers, dates or timestamps are needed' AS problem
FROM "__sqlanon_typed"
WHERE kind NOT IN (SELECT kind FROM "__sqlanon_measured" WHERE measure IS NOT NULL)
HAVING count(*) > 0

-- part: problem_of_ranges
SELECT 1 AS place, 'the ranges list no value, so nothing would be required' AS problem
WHERE NOT EXISTS (SELECT 1 FROM "__sqlanon_typed_range")
UNION ALL
SELECT 2 AS place, 'the ranges list a value that is none of the column''s: ' || text AS problem
FROM "__sqlanon_typed_range"
WHERE text IS NOT NULL AND (value IS NULL
  OR coalesce(TRY_CAST(text AS DOUBLE) <> TRY_CAST(CAST(value AS VARCHAR) AS DOUBLE), false))
UNION ALL
SELECT 3 AS place, 'the ranges have a low or a high that is not a number from 0 to 1, for ' || coalesce(text, 'NULL')
  AS problem
FROM "__sqlanon_typed_range"
WHERE NOT bounded
UNION ALL
SELECT 4 AS place, 'the ranges have a low above the high, for ' || coalesce(text, 'NULL') AS problem
FROM "__sqlanon_typed_range"
WHERE low > high
UNION ALL
SELECT 5 AS place, 'the ranges list a value more than once: ' || coalesce(min(text), 'NULL') AS problem
FROM "__sqlanon_typed_range"
GROUP BY value
HAVING count(*) > 1

-- part: problem_of_triples
SELECT 1 AS place, 'the triples have no row, so nothing would be known' AS problem
WHERE NOT EXISTS (SELECT 1 FROM "__sqlanon_typed_triple")
UNION ALL
SELECT 2 AS place, 'the triples are about a value that is none of the column''s: ' || text AS problem
FROM "__sqlanon_typed_triple"
WHERE text IS NOT NULL AND (value IS NULL
  OR coalesce(TRY_CAST(text AS DOUBLE) <> TRY_CAST(CAST(value AS VARCHAR) AS DOUBLE), false))
UNION ALL
SELECT 3 AS place, 'the triples have an l, k or m that is out of bounds, for ' || coalesce(text, 'NULL') AS problem
FROM "__sqlanon_typed_triple"
WHERE NOT bounded
UNION ALL
SELECT 4 AS place, 'the triples have one that is below another one, for ' || coalesce(lower.text, 'NULL') AS problem
FROM "__sqlanon_typed_triple" AS lower
JOIN "__sqlanon_typed_triple" AS upper ON upper.place <> lower.place AND lower.l <= upper.l AND lower.k <= upper.k
  AND lower.m <= upper.m AND (upper.text IS NULL OR lower.value = upper.value)

-- part: problem_of_weights
SELECT 1 AS place, 'the weights list no value' AS problem
WHERE NOT EXISTS (SELECT 1 FROM "__sqlanon_typed_range")
UNION ALL
SELECT 2 AS place, 'the weights list a value that is none of the column''s: ' || text AS problem
FROM "__sqlanon_typed_range"
WHERE text IS NOT NULL AND (value IS NULL
  OR coalesce(TRY_CAST(text AS DOUBLE) <> TRY_CAST(CAST(value AS VARCHAR) AS DOUBLE), false))
UNION ALL
SELECT 3 AS place, 'the weights have one that is not a number from 0 to 1, for ' || coalesce(text, 'NULL') AS problem
FROM "__sqlanon_typed_range"
WHERE NOT bounded OR low IS NULL
UNION ALL
SELECT 4 AS place, 'the weights list a value more than once: ' || coalesce(min(text), 'NULL') AS problem
FROM "__sqlanon_typed_range"
GROUP BY value
HAVING count(*) > 1
UNION ALL
SELECT 5 AS place, 'the weights add up to ' || CAST(sum(low) AS VARCHAR) || ', not to 1' AS problem
FROM "__sqlanon_typed_range"
HAVING abs(sum(low) - 1) > 1e-9
UNION ALL
SELECT 6 AS place, 'values of the column that have no weight above 0: ' || CAST(count(*) AS VARCHAR) AS problem
FROM "__sqlanon_code" AS coded
LEFT JOIN value_range AS listed ON listed.value = coded.code
WHERE coalesce(listed.low, 0) <= 1e-12
HAVING count(*) > 0

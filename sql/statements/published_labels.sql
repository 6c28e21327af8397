-- The forms of a column's labels in the published rows: values, ranges in brackets, prefixes followed by stars, and
-- stars alone. A range that ends in a bracket includes its greatest value; a range of whole numbers or days has all
-- values from end to end, both included. own has the values of the source's rows as text: a label counts as a value
-- itself for at most as many rows as have this value in the source.
WITH labels AS (
  SELECT shown.label, count(*) AS n
  FROM shown
  GROUP BY shown.label
), owned AS (
  SELECT own.label, count(*) AS n
  FROM own
  GROUP BY own.label
), ends AS (
  SELECT
    labels.label,
    labels.n,
    least(labels.n, coalesce(owned.n, 0)) AS own_n,
    regexp_matches(labels.label, '. or NULL$') AS is_or_null,
    regexp_extract(labels.label, '^\[(.+?), ?(.+?)([\])])( or NULL)?$', ['low', 'high', 'close', 'nothing']) AS part,
    regexp_matches(labels.label, '^\[(.+?), ?(.+?)[\])]( or NULL)?$') AS is_range,
    regexp_matches(labels.label, '^\*+$') AS is_star,
    regexp_matches(labels.label, '^[^*]+\*+$') AS is_prefix
  FROM labels
  LEFT JOIN owned
    ON owned.label IS NOT DISTINCT FROM labels.label
), typed AS (
  SELECT
    ends.*,
    TRY_CAST(ends.part.low AS DOUBLE) AS low,
    TRY_CAST(ends.part.high AS DOUBLE) AS high,
    TRY_CAST(TRY_CAST(ends.part.low AS TIMESTAMP) AS DATE) AS first_day,
    TRY_CAST(TRY_CAST(ends.part.high AS TIMESTAMP) AS DATE) AS last_day,
    ends.is_range AND NOT regexp_matches(ends.part.low || ' ' || ends.part.high, '^-?\d+ -?\d+$') AS is_real
  FROM ends
), shape AS (
  SELECT
    coalesce(bool_and(typed.low <= typed.high) FILTER (WHERE typed.is_range), false) AS of_numbers,
    coalesce(bool_and(typed.first_day <= typed.last_day) FILTER (WHERE typed.is_range), false) AS of_days,
    coalesce(bool_or(typed.is_real), false) AS of_reals
  FROM typed
), sized AS (
  SELECT
    typed.label,
    typed.n,
    typed.own_n,
    typed.own_n > 0 AND NOT typed.is_range AND NOT typed.is_star AS is_own,
    typed.is_or_null AND typed.own_n = 0 AND NOT typed.is_range AS is_or_null,
    typed.is_range,
    typed.is_star,
    typed.is_prefix,
    CASE
      WHEN typed.is_range AND shape.of_numbers
        THEN typed.high - typed.low + CASE WHEN shape.of_reals OR typed.part.close = ')' THEN 0 ELSE 1 END
      WHEN typed.is_range AND shape.of_days
        THEN typed.last_day - typed.first_day + CASE WHEN typed.part.close = ')' THEN 0 ELSE 1 END
      WHEN typed.is_prefix THEN length(rtrim(typed.label, '*'))
    END AS size,
    shape.of_days AND NOT shape.of_numbers AS of_days
  FROM typed
  CROSS JOIN shape
), counted AS (
  SELECT
    sized.size,
    sum(sized.n) OVER (ORDER BY sized.size ASC NULLS LAST) AS up_to_here,
    sum(sized.n) OVER () AS all_rows
  FROM sized
  WHERE sized.size IS NOT NULL
), middle AS (
  SELECT min(counted.size) AS median
  FROM counted
  WHERE 2 * counted.up_to_here >= counted.all_rows
)
SELECT
  CAST(count(*) AS BIGINT) AS labels,
  CAST(sum(sized.n) AS BIGINT) AS row_count,
  CAST(coalesce(sum(sized.n) FILTER (WHERE sized.is_range), 0) AS BIGINT) AS range_rows,
  CAST(coalesce(sum(sized.n) FILTER (WHERE sized.is_prefix), 0) AS BIGINT) AS prefix_rows,
  CAST(coalesce(sum(sized.n) FILTER (WHERE sized.is_star), 0) AS BIGINT) AS star_rows,
  CAST(max(sized.n) AS BIGINT) AS most_rows,
  CAST(min(sized.size) AS DOUBLE) AS narrowest,
  CAST(max(sized.size) AS DOUBLE) AS widest,
  CAST(any_value(middle.median) AS DOUBLE) AS median,
  coalesce(bool_or(sized.of_days), false) AS of_days,
  first(
    sized.label ORDER BY sized.is_range DESC NULLS LAST, sized.n DESC NULLS LAST, sized.label ASC NULLS LAST
  ) FILTER (WHERE NOT sized.is_star) AS example,
  CAST(count(*) FILTER (WHERE sized.is_range) AS BIGINT) AS range_labels,
  CAST(coalesce(sum(sized.own_n), 0) AS BIGINT) AS unchanged_rows,
  CAST(coalesce(sum(sized.own_n) FILTER (WHERE sized.is_own), 0) AS BIGINT) AS own_rows,
  CAST(coalesce(sum(sized.n) FILTER (WHERE sized.is_or_null), 0) AS BIGINT) AS or_null_rows,
  CAST(coalesce(sum(sized.n) FILTER (WHERE sized.label IS NULL), 0) AS BIGINT) AS null_rows,
  list(sized.label ORDER BY sized.label ASC NULLS LAST) FILTER (WHERE sized.is_own)[1:4] AS own_labels
FROM sized
CROSS JOIN middle

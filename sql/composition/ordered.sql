-- The rows of each class, and the number of rows whose value is guessed correctly from the order: class_id, size, hits.
--
-- released: class_id, value and {position} of the rows of a release; person: class_id and respondent, a position in the
-- source; source: {position} and {value} of the source's rows. The guess is that the r-th row of a class belongs to its
-- r-th person; typed casts a value of the source to the type of the released values.
WITH ranked AS (
  SELECT
    class_id, value,
    row_number() OVER (PARTITION BY class_id ORDER BY {position} ASC NULLS LAST) AS rank
  FROM released
), placed AS (
  SELECT
    person.class_id, {source.value} AS value,
    row_number() OVER (PARTITION BY person.class_id ORDER BY person.respondent ASC NULLS LAST) AS rank
  FROM person
  JOIN source ON {source.position} = person.respondent
)
SELECT
  ranked.class_id,
  count(*) AS size,
  sum(
    CASE WHEN placed.rank IS NOT NULL AND ranked.value IS NOT DISTINCT FROM typed(placed.value) THEN 1 ELSE 0 END
  ) AS hits
FROM ranked
LEFT JOIN placed ON ranked.class_id IS NOT DISTINCT FROM placed.class_id AND ranked.rank = placed.rank
GROUP BY ranked.class_id

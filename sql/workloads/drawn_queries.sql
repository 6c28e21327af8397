-- The queries of a workload: workload, query_id, sql. Their text is $head and the predicates, joined by AND.
--
-- choices: query_id, attribute, read from `query`; predicates: query_id, attribute, predicate, read from `choice`.
WITH query AS (
  SELECT unnest(range(1, $queries + 1)) AS query_id
), choice AS (
  SELECT * FROM choices
), predicate AS (
  SELECT * FROM predicates
)
SELECT $name AS workload, query_id, $head || string_agg(predicate, ' AND ' ORDER BY attribute ASC NULLS LAST) AS sql
FROM predicate
GROUP BY query_id

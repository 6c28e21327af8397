-- model: nt_closeness
-- when: distance = ordered
-- title: Every equivalence class has a broader class of at least n rows whose sensitive values have the same distribution, up to an earth mover's distance of t between their ranks.
-- paper: Li, Li and Venkatasubramanian, Closeness: a new privacy measure for data publishing (2010), (n,t)-closeness; ordered distance
-- parameter: n BIGINT 1 1000000000000 -- the least number of rows of a broader class that a class is compared with
-- parameter: t DECIMAL 0 1 -- the greatest distance of a class from its nearest broader class, 1/(m-1) sum |P_i - Q_i| over the cumulative shares of m values
-- required: at most t
-- enough rows: n -- a class is one of its own broader classes, at a distance of 0
-- monotone: no -- of four classes like their broader class, two that merge may differ from each broader class of n rows
-- monotone under suppression: no -- the rows that are withheld are missing from the broader classes
-- excess: 0: merging classes can create violations, so no excess is certain in advance
-- excess maximum: 1
-- whole release: yes -- the broader classes have rows of other classes
-- joint: no -- tuples of values have no ranks
-- reads: equivalence_class, class_sensitive_value, superset

-- A broader class has all rows below one vector of labels that are at least as general. superset(class_id, superset_id)
-- has the broader classes of each class, including the class itself. achieved is the greatest distance of a class from the
-- nearest broader class of n rows; it is infinite if there is none.
-- The m values are those of the whole release, whatever class is compared. From a value of the broader class to the one
-- before its next both cumulative shares stay as they are, so that its values are enough. With S and N rows the
-- distance times (m - 1) S N is a sum of integers; beyond 1e15, which DOUBLEs round, a class near to t violates.

-- shared: each statement begins with these relations
WITH above AS (
  SELECT s.superset_id, v.value, CAST(sum(v.n) AS DOUBLE) AS n
  FROM superset AS s
  JOIN class_sensitive_value AS v ON v.class_id = s.class_id
  GROUP BY s.superset_id, v.value
), large AS (
  SELECT superset_id, sum(n) AS total FROM above GROUP BY superset_id HAVING sum(n) >= $n
), placed AS (
  SELECT value, CAST(row_number() OVER (ORDER BY value ASC NULLS LAST) AS DOUBLE) AS place,
    CAST(count(*) OVER () AS DOUBLE) AS places
  FROM (SELECT DISTINCT value FROM class_sensitive_value) AS occurring
), step AS (
  SELECT a.superset_id, a.value, p.place, p.places,
    sum(a.n) OVER (
      PARTITION BY a.superset_id ORDER BY p.place ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS held,
    coalesce(lead(p.place) OVER (PARTITION BY a.superset_id ORDER BY p.place ASC NULLS LAST) - p.place, 0) AS width
  FROM above AS a
  JOIN placed AS p ON p.value = a.value
), compared AS (
  SELECT s.class_id, s.superset_id, l.total, CAST(c.size AS DOUBLE) AS size, e.held, e.width, e.places,
    CAST(sum(coalesce(v.n, 0)) OVER (
      PARTITION BY s.class_id, s.superset_id ORDER BY e.place ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS DOUBLE) AS own
  FROM superset AS s
  JOIN large AS l ON l.superset_id = s.superset_id
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN step AS e ON e.superset_id = s.superset_id
  LEFT JOIN class_sensitive_value AS v ON v.class_id = s.class_id AND v.value = e.value
), paired AS (
  SELECT class_id, superset_id, max(total * size * (places - 1)) AS scale, max(places) AS places,
    sum(abs(own * total - held * size) * width) AS moved
  FROM compared
  GROUP BY class_id, superset_id
)

-- statement: achieved
, nearest AS (
  SELECT class_id, min(coalesce(moved / nullif(scale, 0), 0)) AS distance FROM paired GROUP BY class_id
)
SELECT max(coalesce(n.distance, CAST('infinity' AS DOUBLE))) AS achieved
FROM equivalence_class AS c
LEFT JOIN nearest AS n ON n.class_id = c.class_id

-- statement: violations
, nearest AS (
  SELECT class_id, max(CASE
      WHEN moved = 0 OR CASE
        WHEN scale < 1e15
        THEN CAST(moved AS DECIMAL(38, 0)) * $t_denominator <= $t_numerator * CAST(scale AS DECIMAL(38, 0))
        ELSE moved <= ($t - 1e-15 * (places + 15)) * scale
      END
      THEN 1 ELSE 0 END) AS is_close
  FROM paired
  GROUP BY class_id
)
SELECT c.class_id, c.size, CAST(0 AS DOUBLE) AS excess
FROM equivalence_class AS c
LEFT JOIN nearest AS n ON n.class_id = c.class_id
WHERE coalesce(n.is_close, 0) = 0

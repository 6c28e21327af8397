-- model: privacy_skyline
-- when: knowledge = table
-- title: A reader whose knowledge is one row of a table never assigns a probability of c or more to a value of a person; a row has the numbers l, k and m: values that the person lacks, other people whose values are known, and other members of the person's family.
-- paper: Chen, LeFevre and Ramakrishnan, Privacy skyline: privacy with multidimensional adversarial knowledge (2007)
-- parameter: c DECIMAL 0.000001 1 -- the probability that no value may reach
-- parameter: triples RELATION value l k m -- a row for each piece of knowledge, and the value that it is about, or NULL for every value
-- required: at most c
-- monotone: no -- it is monotone for a whole release (Chen et al.), but nothing is proven for two satisfying classes beside violating ones
-- monotone under suppression: no -- the family may be in a class that is added
-- excess: 0: what a class reveals depends on all other classes, so no excess is certain in advance
-- excess maximum: 1
-- whole release: yes -- the others may be people of any class
-- one row each: yes -- a world gives each person one value
-- joint: no -- a triple is about one attribute's value
-- reads: class_sensitive_value, known_triple

-- Computed as for one triple (privacy_skyline.sql). A value has to satisfy its own triples and those with a NULL value.
-- No triple of a value is below another triple of the same value.

-- shared: each statement begins with these relations
WITH ranked AS (
  SELECT class_id, value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER (PARTITION BY class_id) AS DOUBLE) AS size,
    row_number() OVER (PARTITION BY class_id ORDER BY n DESC NULLS LAST) AS place
  FROM class_sensitive_value
), frequent AS (
  SELECT r.class_id, t.l, sum(CASE WHEN r.place <= t.l THEN r.n ELSE CAST(0 AS DOUBLE) END) AS first_l,
    sum(CASE WHEN r.place <= t.l + 1 THEN r.n ELSE CAST(0 AS DOUBLE) END) AS first_more
  FROM ranked AS r
  CROSS JOIN (SELECT DISTINCT l FROM known_triple) AS t
  GROUP BY r.class_id, t.l
), asked AS (
  SELECT r.class_id, r.value, r.n, r.size, r.place, t.l, t.k, t.m
  FROM ranked AS r
  JOIN known_triple AS t ON t.value = r.value
  UNION ALL
  SELECT r.class_id, r.value, r.n, r.size, r.place, t.l, t.k, t.m
  FROM ranked AS r
  CROSS JOIN known_triple AS t
  WHERE t.value IS NULL
), counted AS (
  SELECT a.class_id, a.value, a.n, a.size, a.l, a.k, a.m, greatest(a.size - 1 - a.k, 0) AS unknown,
    a.size - least(CAST(a.k AS DOUBLE), a.size - a.n) AS unknown_there,
    CASE WHEN a.place <= a.l THEN a.size - f.first_more ELSE a.size - a.n - f.first_l END AS possible
  FROM asked AS a
  JOIN frequent AS f ON f.class_id = a.class_id AND f.l = a.l
), chance AS (
  SELECT class_id, value, n, size, l, k, m, possible,
    CASE WHEN m > 0 THEN greatest(unknown - n - 0, 0) / greatest(unknown - 0, 1) ELSE 1 END
      * CASE WHEN m > 1 THEN greatest(unknown - n - 1, 0) / greatest(unknown - 1, 1) ELSE 1 END
      * CASE WHEN m > 2 THEN greatest(unknown - n - 2, 0) / greatest(unknown - 2, 1) ELSE 1 END
      * CASE WHEN m > 3 THEN greatest(unknown - n - 3, 0) / greatest(unknown - 3, 1) ELSE 1 END
      * CASE WHEN m > 4 THEN greatest(unknown - n - 4, 0) / greatest(unknown - 4, 1) ELSE 1 END
      * CASE WHEN m > 5 THEN greatest(unknown - n - 5, 0) / greatest(unknown - 5, 1) ELSE 1 END
      * CASE WHEN m > 6 THEN greatest(unknown - n - 6, 0) / greatest(unknown - 6, 1) ELSE 1 END
      * CASE WHEN m > 7 THEN greatest(unknown - n - 7, 0) / greatest(unknown - 7, 1) ELSE 1 END AS here_known,
    CASE WHEN m > 0 THEN greatest((size - 1) - n - 0, 0) / greatest((size - 1) - 0, 1) ELSE 1 END
      * CASE WHEN m > 1 THEN greatest((size - 1) - n - 1, 0) / greatest((size - 1) - 1, 1) ELSE 1 END
      * CASE WHEN m > 2 THEN greatest((size - 1) - n - 2, 0) / greatest((size - 1) - 2, 1) ELSE 1 END
      * CASE WHEN m > 3 THEN greatest((size - 1) - n - 3, 0) / greatest((size - 1) - 3, 1) ELSE 1 END
      * CASE WHEN m > 4 THEN greatest((size - 1) - n - 4, 0) / greatest((size - 1) - 4, 1) ELSE 1 END
      * CASE WHEN m > 5 THEN greatest((size - 1) - n - 5, 0) / greatest((size - 1) - 5, 1) ELSE 1 END
      * CASE WHEN m > 6 THEN greatest((size - 1) - n - 6, 0) / greatest((size - 1) - 6, 1) ELSE 1 END
      * CASE WHEN m > 7 THEN greatest((size - 1) - n - 7, 0) / greatest((size - 1) - 7, 1) ELSE 1 END AS here,
    CASE WHEN m > 0 THEN greatest(size - n - 0, 0) / greatest(size - 0, 1) ELSE 1 END
      * CASE WHEN m > 1 THEN greatest(size - n - 1, 0) / greatest(size - 1, 1) ELSE 1 END
      * CASE WHEN m > 2 THEN greatest(size - n - 2, 0) / greatest(size - 2, 1) ELSE 1 END
      * CASE WHEN m > 3 THEN greatest(size - n - 3, 0) / greatest(size - 3, 1) ELSE 1 END
      * CASE WHEN m > 4 THEN greatest(size - n - 4, 0) / greatest(size - 4, 1) ELSE 1 END
      * CASE WHEN m > 5 THEN greatest(size - n - 5, 0) / greatest(size - 5, 1) ELSE 1 END
      * CASE WHEN m > 6 THEN greatest(size - n - 6, 0) / greatest(size - 6, 1) ELSE 1 END
      * CASE WHEN m > 7 THEN greatest(size - n - 7, 0) / greatest(size - 7, 1) ELSE 1 END AS there,
    CASE WHEN m > 0 THEN greatest(unknown_there - n - 0, 0) / greatest(unknown_there - 0, 1) ELSE 1 END
      * CASE WHEN m > 1 THEN greatest(unknown_there - n - 1, 0) / greatest(unknown_there - 1, 1) ELSE 1 END
      * CASE WHEN m > 2 THEN greatest(unknown_there - n - 2, 0) / greatest(unknown_there - 2, 1) ELSE 1 END
      * CASE WHEN m > 3 THEN greatest(unknown_there - n - 3, 0) / greatest(unknown_there - 3, 1) ELSE 1 END
      * CASE WHEN m > 4 THEN greatest(unknown_there - n - 4, 0) / greatest(unknown_there - 4, 1) ELSE 1 END
      * CASE WHEN m > 5 THEN greatest(unknown_there - n - 5, 0) / greatest(unknown_there - 5, 1) ELSE 1 END
      * CASE WHEN m > 6 THEN greatest(unknown_there - n - 6, 0) / greatest(unknown_there - 6, 1) ELSE 1 END
      * CASE WHEN m > 7 THEN greatest(unknown_there - n - 7, 0) / greatest(unknown_there - 7, 1) ELSE 1 END AS there_known
  FROM counted
), placed AS (
  SELECT class_id, value, n, size, k, possible, here_known, here,
    row_number() OVER (PARTITION BY value, l, k, m ORDER BY there ASC NULLS LAST) AS rank,
    lead(there) OVER (PARTITION BY value, l, k, m ORDER BY there ASC NULLS LAST) AS second,
    min(there) OVER (PARTITION BY value, l, k, m) AS first,
    row_number() OVER (PARTITION BY value, l, k, m ORDER BY there_known ASC NULLS LAST) AS rank_known,
    lead(there_known) OVER (PARTITION BY value, l, k, m ORDER BY there_known ASC NULLS LAST) AS second_known,
    min(there_known) OVER (PARTITION BY value, l, k, m) AS first_known
  FROM chance
), judged AS (
  SELECT class_id, size, n, least(greatest(possible - k, 0) * here_known, possible * here,
    greatest(possible - k, 0) * coalesce(CASE WHEN rank = 1 THEN second ELSE first END, CAST(1 AS DOUBLE)),
    possible * coalesce(CASE WHEN rank_known = 1 THEN second_known ELSE first_known END, CAST(1 AS DOUBLE))) AS others
  FROM placed
)

-- statement: achieved
SELECT max(probability) AS achieved
FROM (
  SELECT n / nullif(n + others, 0) AS probability FROM judged
  UNION ALL
  SELECT CAST(0 AS DOUBLE) AS probability FROM ranked
) AS every_value

-- statement: violations
SELECT class_id, CAST(max(size) AS BIGINT) AS size, CAST(0 AS DOUBLE) AS excess
FROM judged
WHERE $c * (n + others) <= n * (1 + CAST(1e-12 AS DOUBLE))
GROUP BY class_id

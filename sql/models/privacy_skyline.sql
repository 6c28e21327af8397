-- model: privacy_skyline
-- when: knowledge = triple (default)
-- title: A reader who knows l values that a person lacks, the values of k other people, and m other members of the person's family never assigns a probability of c or more to a value of the person.
-- paper: Chen, LeFevre and Ramakrishnan, Privacy skyline: privacy with multidimensional adversarial knowledge (2007)
-- parameter: c DECIMAL 0.000001 1 -- the probability that no value may reach
-- parameter: l BIGINT 0 1000000 DEFAULT 0 -- the number of values that the target is known to lack
-- parameter: k BIGINT 0 1000000 DEFAULT 0 -- the number of other people whose values are known
-- parameter: m BIGINT 0 8 DEFAULT 0 -- the number of other people who are known to share a value with the target: if one of them has it, the target has it
-- required: at most c
-- monotone: no -- it is monotone for a whole release (Chen et al.), but nothing is proven for two satisfying classes beside violating ones
-- monotone under suppression: no -- the family may be in a class that is added
-- excess: 0: what a class reveals depends on all other classes, so no excess is certain in advance
-- excess maximum: 1
-- whole release: yes -- the others may be people of any class
-- one row each: yes -- a world gives each person one value
-- reads: class_sensitive_value

-- Worlds give each person of a class one of the values of its rows, and are equally likely. Of a class of `size` rows, n have
-- a value. Without the l most frequent other values, `possible` rows with another value are left for the target, and the
-- probability of the value is n / (n + others). `others` is `possible`, less the k rows of known people, times the chance
-- that all m members of the family lack the value: among a rows of which n have it, the product of (a - n - j) / (a - j) for
-- j = 0 .. m - 1. The k known people lack the value, and have values that the target could have.
-- The logarithm of the chance is concave in the numbers of people in a class, so the worst case has all k known people in one class,
-- and all m members in one class: the target's, or the other class with the least chance. All four combinations are computed.
-- A triple also covers readers who know fewer people: if a class has fewer rows than the family has members, all people of the class
-- count as members, and the chance is 0.
-- A probability less than 1e-12 below c counts as c, so that rounding never satisfies the model.

-- shared: each statement begins with these relations
WITH ranked AS (
  SELECT class_id, value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER (PARTITION BY class_id) AS DOUBLE) AS size,
    row_number() OVER (PARTITION BY class_id ORDER BY n DESC NULLS LAST) AS place
  FROM class_sensitive_value
), frequent AS (
  SELECT class_id, sum(CASE WHEN place <= $l THEN n ELSE CAST(0 AS DOUBLE) END) AS first_l,
    sum(CASE WHEN place <= $l + 1 THEN n ELSE CAST(0 AS DOUBLE) END) AS first_more
  FROM ranked
  GROUP BY class_id
), counted AS (
  SELECT r.class_id, r.value, r.n, r.size, greatest(r.size - 1 - $k, 0) AS unknown,
    r.size - least(CAST($k AS DOUBLE), r.size - r.n) AS unknown_there,
    CASE WHEN r.place <= $l THEN r.size - f.first_more ELSE r.size - r.n - f.first_l END AS possible
  FROM ranked AS r
  JOIN frequent AS f ON f.class_id = r.class_id
), chance AS (
  SELECT class_id, value, n, size, possible,
    CASE WHEN $m > 0 THEN greatest(unknown - n - 0, 0) / greatest(unknown - 0, 1) ELSE 1 END
      * CASE WHEN $m > 1 THEN greatest(unknown - n - 1, 0) / greatest(unknown - 1, 1) ELSE 1 END
      * CASE WHEN $m > 2 THEN greatest(unknown - n - 2, 0) / greatest(unknown - 2, 1) ELSE 1 END
      * CASE WHEN $m > 3 THEN greatest(unknown - n - 3, 0) / greatest(unknown - 3, 1) ELSE 1 END
      * CASE WHEN $m > 4 THEN greatest(unknown - n - 4, 0) / greatest(unknown - 4, 1) ELSE 1 END
      * CASE WHEN $m > 5 THEN greatest(unknown - n - 5, 0) / greatest(unknown - 5, 1) ELSE 1 END
      * CASE WHEN $m > 6 THEN greatest(unknown - n - 6, 0) / greatest(unknown - 6, 1) ELSE 1 END
      * CASE WHEN $m > 7 THEN greatest(unknown - n - 7, 0) / greatest(unknown - 7, 1) ELSE 1 END AS here_known,
    CASE WHEN $m > 0 THEN greatest((size - 1) - n - 0, 0) / greatest((size - 1) - 0, 1) ELSE 1 END
      * CASE WHEN $m > 1 THEN greatest((size - 1) - n - 1, 0) / greatest((size - 1) - 1, 1) ELSE 1 END
      * CASE WHEN $m > 2 THEN greatest((size - 1) - n - 2, 0) / greatest((size - 1) - 2, 1) ELSE 1 END
      * CASE WHEN $m > 3 THEN greatest((size - 1) - n - 3, 0) / greatest((size - 1) - 3, 1) ELSE 1 END
      * CASE WHEN $m > 4 THEN greatest((size - 1) - n - 4, 0) / greatest((size - 1) - 4, 1) ELSE 1 END
      * CASE WHEN $m > 5 THEN greatest((size - 1) - n - 5, 0) / greatest((size - 1) - 5, 1) ELSE 1 END
      * CASE WHEN $m > 6 THEN greatest((size - 1) - n - 6, 0) / greatest((size - 1) - 6, 1) ELSE 1 END
      * CASE WHEN $m > 7 THEN greatest((size - 1) - n - 7, 0) / greatest((size - 1) - 7, 1) ELSE 1 END AS here,
    CASE WHEN $m > 0 THEN greatest(size - n - 0, 0) / greatest(size - 0, 1) ELSE 1 END
      * CASE WHEN $m > 1 THEN greatest(size - n - 1, 0) / greatest(size - 1, 1) ELSE 1 END
      * CASE WHEN $m > 2 THEN greatest(size - n - 2, 0) / greatest(size - 2, 1) ELSE 1 END
      * CASE WHEN $m > 3 THEN greatest(size - n - 3, 0) / greatest(size - 3, 1) ELSE 1 END
      * CASE WHEN $m > 4 THEN greatest(size - n - 4, 0) / greatest(size - 4, 1) ELSE 1 END
      * CASE WHEN $m > 5 THEN greatest(size - n - 5, 0) / greatest(size - 5, 1) ELSE 1 END
      * CASE WHEN $m > 6 THEN greatest(size - n - 6, 0) / greatest(size - 6, 1) ELSE 1 END
      * CASE WHEN $m > 7 THEN greatest(size - n - 7, 0) / greatest(size - 7, 1) ELSE 1 END AS there,
    CASE WHEN $m > 0 THEN greatest(unknown_there - n - 0, 0) / greatest(unknown_there - 0, 1) ELSE 1 END
      * CASE WHEN $m > 1 THEN greatest(unknown_there - n - 1, 0) / greatest(unknown_there - 1, 1) ELSE 1 END
      * CASE WHEN $m > 2 THEN greatest(unknown_there - n - 2, 0) / greatest(unknown_there - 2, 1) ELSE 1 END
      * CASE WHEN $m > 3 THEN greatest(unknown_there - n - 3, 0) / greatest(unknown_there - 3, 1) ELSE 1 END
      * CASE WHEN $m > 4 THEN greatest(unknown_there - n - 4, 0) / greatest(unknown_there - 4, 1) ELSE 1 END
      * CASE WHEN $m > 5 THEN greatest(unknown_there - n - 5, 0) / greatest(unknown_there - 5, 1) ELSE 1 END
      * CASE WHEN $m > 6 THEN greatest(unknown_there - n - 6, 0) / greatest(unknown_there - 6, 1) ELSE 1 END
      * CASE WHEN $m > 7 THEN greatest(unknown_there - n - 7, 0) / greatest(unknown_there - 7, 1) ELSE 1 END AS there_known
  FROM counted
), placed AS (
  SELECT class_id, value, n, size, possible, here_known, here,
    row_number() OVER (PARTITION BY value ORDER BY there ASC NULLS LAST) AS rank,
    lead(there) OVER (PARTITION BY value ORDER BY there ASC NULLS LAST) AS second, min(there) OVER (PARTITION BY value) AS first,
    row_number() OVER (PARTITION BY value ORDER BY there_known ASC NULLS LAST) AS rank_known,
    lead(there_known) OVER (PARTITION BY value ORDER BY there_known ASC NULLS LAST) AS second_known,
    min(there_known) OVER (PARTITION BY value) AS first_known
  FROM chance
), judged AS (
  SELECT class_id, size, n, least(greatest(possible - $k, 0) * here_known, possible * here,
    greatest(possible - $k, 0) * coalesce(CASE WHEN rank = 1 THEN second ELSE first END, CAST(1 AS DOUBLE)),
    possible * coalesce(CASE WHEN rank_known = 1 THEN second_known ELSE first_known END, CAST(1 AS DOUBLE))) AS others
  FROM placed
)

-- statement: achieved
SELECT max(n / nullif(n + others, 0)) AS achieved FROM judged

-- statement: violations
SELECT class_id, CAST(max(size) AS BIGINT) AS size, CAST(0 AS DOUBLE) AS excess
FROM judged
WHERE $c * (n + others) <= n * (1 + CAST(1e-12 AS DOUBLE))
GROUP BY class_id

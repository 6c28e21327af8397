-- model: t_closeness
-- when: distance = ordered
-- title: In every equivalence class the sensitive values are distributed as in the whole release, up to an earth mover's distance of t between their ranks.
-- paper: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), ordered distance
-- parameter: t DECIMAL 0 1 -- the greatest distance of a class, 1/(m-1) sum |P_i - Q_i| over the cumulative shares of m values
-- required: at most t
-- monotone: yes -- the distance is convex: that of a union is at most the mean of its parts' distances
-- monotone under suppression: no -- a union of a class within t and one beyond it can be beyond it
-- excess: size * (distance - t)
-- excess maximum: (distance of a class that holds the first value only, or the last, the greater) - t
-- joint: no -- tuples of values have no ranks
-- within: ordered_nt_closeness with n = 1
-- reads: equivalence_class, class_sensitive_value, sensitive_value

-- Places 1..m are the ranks of the release's values. P_i and Q_i are the shares of the rows at place
-- i or before, of a class of S rows and of the release of N. P only steps at the values present, so
-- it is constant on the run of places from one of them to before the next; |x| = 2 max(x, 0) - x; and
-- Q grows, so within a run max(P - Q_i, 0) is P - Q_i up to the place that Q passes P, and 0 after.
-- With area(i) = N (Q_1 + ... + Q_i) each run is then a difference, whatever the number of values:
--   sum of max(P_i - Q_i, 0) over a run: (last - first + 1) P - (area(last) - area(first - 1)) / N
--   sum of P_i - Q_i over all places:    sum p (m + 1 - place) - area(m) / N
-- `passing` finds the place for every share that occurs: the last one with Q_i <= P, in one order of
-- both kinds of shares. Equal fractions are equal DOUBLEs; were two unlike ones taken for equal, the
-- place between would add less than 1e-15. All else is integers times S N, exact while S N m is below 10^15.
-- Beyond, sums of up to m terms are off by a share of m 2^-53 or so of S N m: a class violates where that
-- cannot tell, unless it is all rows.
-- The excess: max(0, distance - t) is convex in p, so its greatest value is taken at a class of one
-- value; from one place to the next that distance grows by 2 Q_i - 1, so it is greatest at an end:
-- m - area(m) / N at the first and area(m) / N - 1 at the last, each over m - 1.

-- shared: each statement begins with these relations
WITH ranked AS (
  SELECT value, row_number() OVER (ORDER BY value ASC NULLS LAST) AS place, count(*) OVER () AS places,
    CAST(sum(n) OVER (
      ORDER BY value ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS DOUBLE) AS held,
    CAST(sum(n) OVER () AS DOUBLE) AS total
  FROM sensitive_value
), baseline AS (
  SELECT value, place, places, total, held / nullif(total, 0) AS share, sum(held) OVER () AS whole,
    sum(held) OVER (ORDER BY place ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS area,
    sum(held) OVER (
      ORDER BY place ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) - held AS area_before
  FROM ranked
)

-- statement: achieved
, step AS (
  SELECT s.class_id, CAST(c.size AS DOUBLE) AS size, CAST(s.n AS DOUBLE) AS n, b.place, b.places, b.total, b.whole,
    b.area_before,
    CAST(sum(s.n) OVER (
      PARTITION BY s.class_id ORDER BY b.place ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS DOUBLE) AS held,
    coalesce(lead(b.place) OVER (PARTITION BY s.class_id ORDER BY b.place ASC NULLS LAST) - 1, b.places) AS last_place,
    coalesce(lead(b.area_before) OVER (PARTITION BY s.class_id ORDER BY b.place ASC NULLS LAST), b.whole) AS area_last
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
), share AS (
  SELECT share, 0 AS sought, place, area FROM baseline
  UNION ALL
  SELECT DISTINCT held / nullif(size, 0) AS share, 1 AS sought, 0 AS place, CAST(0 AS DOUBLE) AS area FROM step
), passing AS (
  SELECT share, sought,
    max(place) OVER (
      ORDER BY share ASC NULLS LAST, sought ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS place,
    max(area) OVER (
      ORDER BY share ASC NULLS LAST, sought ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS area
  FROM share
), distance AS (
  SELECT r.class_id, max(r.size) AS scale, max(r.total) AS total, max(r.places) - 1 AS longest,
    2 * sum((greatest(least(x.place, r.last_place), r.place - 1) - r.place + 1) * r.held * r.total
      - (greatest(least(x.area, r.area_last), r.area_before) - r.area_before) * r.size)
    - sum(r.n * r.total * (r.places + 1 - r.place)) + max(r.whole * r.size) AS moved
  FROM step AS r
  JOIN passing AS x ON x.sought = 1 AND x.share = r.held / nullif(r.size, 0)
  GROUP BY r.class_id
)
SELECT max(coalesce(moved / nullif(scale * total * longest, 0), 0)) AS achieved FROM distance

-- statement: violations
, step AS (
  SELECT s.class_id, c.size AS class_size, CAST(c.size AS DOUBLE) AS size, CAST(s.n AS DOUBLE) AS n, b.place,
    b.places, b.total, b.whole, b.area_before,
    CAST(sum(s.n) OVER (
      PARTITION BY s.class_id ORDER BY b.place ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS DOUBLE) AS held,
    coalesce(lead(b.place) OVER (PARTITION BY s.class_id ORDER BY b.place ASC NULLS LAST) - 1, b.places) AS last_place,
    coalesce(lead(b.area_before) OVER (PARTITION BY s.class_id ORDER BY b.place ASC NULLS LAST), b.whole) AS area_last
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
), share AS (
  SELECT share, 0 AS sought, place, area FROM baseline
  UNION ALL
  SELECT DISTINCT held / nullif(size, 0) AS share, 1 AS sought, 0 AS place, CAST(0 AS DOUBLE) AS area FROM step
), passing AS (
  SELECT share, sought,
    max(place) OVER (
      ORDER BY share ASC NULLS LAST, sought ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS place,
    max(area) OVER (
      ORDER BY share ASC NULLS LAST, sought ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS area
  FROM share
), distance AS (
  SELECT r.class_id, max(r.class_size) AS size, max(r.size) AS scale, max(r.total) AS total,
    max(r.places) - 1 AS longest,
    max(greatest(r.places * r.total - r.whole, r.whole - r.total) / nullif(r.total, 0)) AS farthest,
    2 * sum((greatest(least(x.place, r.last_place), r.place - 1) - r.place + 1) * r.held * r.total
      - (greatest(least(x.area, r.area_last), r.area_before) - r.area_before) * r.size)
    - sum(r.n * r.total * (r.places + 1 - r.place)) + max(r.whole * r.size) AS moved
  FROM step AS r
  JOIN passing AS x ON x.sought = 1 AND x.share = r.held / nullif(r.size, 0)
  GROUP BY r.class_id
), judged AS (
  SELECT class_id, size, scale, total, longest, moved, farthest / nullif(longest, 0) - $t AS most FROM distance
)
SELECT class_id, size,
  CASE WHEN most > 1e-9
    THEN least(scale, greatest(moved / nullif(total * longest, 0) - $t * scale, 0) / nullif(most, 0))
    ELSE 0 END AS excess
FROM judged
WHERE CASE
    WHEN scale * total * longest < 1e15
    THEN CAST(moved AS DECIMAL(38, 0)) * $t_denominator > $t_numerator * CAST(scale * total * longest AS DECIMAL(38, 0))
    ELSE scale < total AND moved > ($t - 1e-15 * (longest + 16)) * scale * total * longest
  END

-- attack: membership
-- title: An adversary ranks known people by the number of rows of the release that could be theirs, and claims that the first of them are in the data.
-- paper: Homer et al., Resolving individuals contributing trace amounts of DNA (2008); Carlini et al., Membership inference attacks from first principles (2022), section 3: the rate at a fixed rate of false positives
-- parameter: against RELATION -- the people whom the adversary knows, some of them in the data and others not
-- parameter: false_positives DECIMAL 0 1 DEFAULT 0.01 -- the share of the people who are not in the data but are named
-- falls: no -- merging classes changes the ranks of people
-- reads: ranked_candidate

-- Targets are the people who are in the data. People of equal rank are named with equal probability, so succeeded is an expected number.
-- Compare it with `membership_by_chance`. The confidence is the share of people in the data among those with this rank or a better one.

-- statement: classes
WITH tied AS (
  SELECT score, room, sum(members) AS members, sum(others) AS others
  FROM ranked_candidate
  GROUP BY score, room
), placed AS (
  SELECT
    score, room, members, others,
    sum(members) OVER best_first AS members_upto,
    sum(others) OVER best_first AS others_upto,
    CAST($false_positives AS DOUBLE) * sum(others) OVER () AS allowed
  FROM tied
  WINDOW best_first AS (ORDER BY score DESC NULLS LAST, room DESC NULLS LAST ROWS UNBOUNDED PRECEDING)
)
SELECT
  CASE WHEN score < 0 THEN 'no row'
    ELSE 'estimate ' || CAST(round(score, 6) AS VARCHAR) || ' of at most ' || CAST(round(room, 6) AS VARCHAR) END AS class_id,
  members AS targets,
  CAST(members_upto AS DOUBLE) / nullif(CAST(members_upto + others_upto AS DOUBLE), 0) AS confidence,
  members * CASE
    WHEN others_upto <= allowed THEN 1
    WHEN others_upto - others >= allowed THEN 0
    ELSE (allowed - (others_upto - others)) / others
  END AS succeeded
FROM placed

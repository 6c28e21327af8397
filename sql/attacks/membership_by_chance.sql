-- attack: membership
-- title: The result of the attack by membership if people are ranked at random.
-- paper: a random order names the same share of those who are in the data as of those who are not
-- parameter: against RELATION -- the people whom the adversary knows, some of them in the data and others not
-- parameter: false_positives DECIMAL 0 1 DEFAULT 0.01 -- the share of the people who are not in the data but are named
-- falls: yes -- it is the same for every release
-- reads: ranked_candidate

-- statement: classes
SELECT
  'everybody' AS class_id,
  sum(members) AS targets,
  CAST(sum(members) AS DOUBLE) / nullif(CAST(sum(members) + sum(others) AS DOUBLE), 0) AS confidence,
  CAST($false_positives AS DOUBLE) * sum(members) AS succeeded
FROM ranked_candidate
HAVING count(*) > 0

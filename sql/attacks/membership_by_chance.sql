-- attack: membership
-- title: What the attack by membership comes to where people are ranked at random.
-- paper: a random order names the same share of those who are in the data as of those who are not
-- parameter: against RELATION -- the people whom the adversary knows, some of them in the data and others not
-- parameter: false_positives DECIMAL 0 1 DEFAULT 0.01 -- the share of those who are not in the data that are named all the same
-- falls: yes -- it is the same of every release
-- reads: ranked_candidate

-- statement: classes
SELECT
  'everybody' AS class_id,
  sum(members) AS targets,
  CAST(sum(members) AS DOUBLE) / nullif(CAST(sum(members) + sum(others) AS DOUBLE), 0) AS confidence,
  CAST($false_positives AS DOUBLE) * sum(members) AS succeeded
FROM ranked_candidate
HAVING count(*) > 0

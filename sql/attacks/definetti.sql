-- attack: definetti
-- title: An adversary who reads all buckets learns how quasi-identifiers and values are related, and names the value of each row accordingly.
-- paper: Kifer, Attacks on privacy and deFinetti's theorem (2009)
-- parameter: rounds BIGINT 0 10000 DEFAULT 200 -- the greatest number of rounds of learning, which ends earlier if nothing changes
-- parameter: smoothing DECIMAL 0.000001 1000 DEFAULT 1 -- the number of times that each part of a row is assumed to occur with each value, in addition to the counts
-- falls: no -- the attack may recognize a value that correlates with a quasi-identifier in a larger bucket only
-- reads: class_sensitive_value, believed_row
-- bound: probabilistic_l_diversity 1 / $l -- if all assignments within a bucket are equally likely, which this adversary does not assume

-- The attack succeeds for rows whose guessed value is that of the source. The confidence is the adversary's own estimate, and too high.

-- statement: classes
SELECT bucket AS class_id, 1 AS targets, confidence, hit AS succeeded FROM believed_row

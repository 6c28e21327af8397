-- attack: definetti
-- title: An adversary who reads all buckets learns how quasi-identifiers go with values, and names the value of each row by that.
-- paper: Kifer, Attacks on privacy and deFinetti's theorem (2009)
-- parameter: rounds BIGINT 0 10000 DEFAULT 200 -- the most rounds of learning; it ends where nothing changes any more
-- parameter: smoothing DECIMAL 0.000001 1000 DEFAULT 1 -- how often each part of a row is taken to go with each value beside what is seen
-- falls: no -- a value that goes with a quasi-identifier may be told apart in a larger bucket only
-- reads: class_sensitive_value, believed_row
-- bound: probabilistic_l_diversity 1 / $l -- in random worlds, which this adversary does not believe in

-- Succeeded are the rows whose value is named right, by the source; the confidence is the adversary's own, too sure of itself.

-- statement: classes
SELECT bucket AS class_id, 1 AS targets, confidence, hit AS succeeded FROM believed_row

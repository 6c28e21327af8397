-- attack: minimality
-- title: An adversary who knows that no less lossy choice satisfied the requirements rules out the values with which such a choice would have satisfied them.
-- paper: Wong, Fu, Wang and Pei, Minimality attack in privacy preserving data publishing (2007)
-- parameter: worlds BIGINT 100 10000000 DEFAULT 10000 -- the number of worlds that are sampled if there are too many to examine all of them
-- parameter: seed BIGINT 0 9223372036854775807 DEFAULT 1 -- the seed of the sample: another seed gives other worlds
-- falls: no -- other levels are below those of a coarser release
-- reads: class_sensitive_value, dealt_row

-- Among the worlds in which no release of less loss satisfies the requirements, the confidence is the share of worlds in which a row has
-- its most frequent value. The attack succeeds for rows that have this value in the source.

-- statement: classes
SELECT class_id, 1 AS targets, confidence, hit AS succeeded FROM dealt_row

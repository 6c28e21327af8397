-- attack: minimality
-- title: The upper end of the 95 % interval of the confidence of minimality; it equals the confidence if all worlds are examined.
-- paper: Wilson, Probable inference, the law of succession, and statistical inference (1927)
-- parameter: worlds BIGINT 100 10000000 DEFAULT 10000 -- the number of worlds that are sampled if there are too many to examine all of them
-- parameter: seed BIGINT 0 9223372036854775807 DEFAULT 1 -- the seed of the sample: another seed gives other worlds
-- falls: no -- other levels are below those of a coarser release
-- reads: class_sensitive_value, dealt_row

-- statement: classes
SELECT class_id, 1 AS targets, high AS confidence, hit AS succeeded FROM dealt_row

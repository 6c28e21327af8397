-- attack: minimality
-- title: An adversary who knows that nothing less lossy satisfied rules out the values with which something would have.
-- paper: Wong, Fu, Wang and Pei, Minimality attack in privacy preserving data publishing (2007)
-- parameter: worlds BIGINT 100 10000000 DEFAULT 10000 -- how many worlds are drawn where there are too many to look at each
-- parameter: seed BIGINT 0 9223372036854775807 DEFAULT 1 -- with another one other worlds are drawn
-- falls: no -- a coarser release has other choices below it
-- reads: class_sensitive_value, dealt_row

-- The confidence is the share of the worlds, of those in which nothing less lossy satisfies, in which a row has its most
-- frequent value; succeeded are the rows for which the source has that value.

-- statement: classes
SELECT class_id, 1 AS targets, confidence, hit AS succeeded FROM dealt_row

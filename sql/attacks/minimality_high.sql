-- attack: minimality
-- title: The greatest that the confidence of minimality may be, by its interval of 95 %: it is itself where each world is looked at.
-- paper: Wilson, Probable inference, the law of succession, and statistical inference (1927)
-- parameter: worlds BIGINT 100 10000000 DEFAULT 10000 -- how many worlds are drawn where there are too many to look at each
-- parameter: seed BIGINT 0 9223372036854775807 DEFAULT 1 -- with another one other worlds are drawn
-- falls: no -- a coarser release has other choices below it
-- reads: class_sensitive_value, dealt_row

-- statement: classes
SELECT class_id, 1 AS targets, high AS confidence, hit AS succeeded FROM dealt_row

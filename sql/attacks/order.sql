-- attack: order
-- title: An adversary who knows the order of the people in the source assigns the r-th row of a class to the r-th of the people in it.
-- paper: DuckDB keeps the order of insertion: a release that is written row by row has the order of its source
-- falls: no -- merging classes changes which row is the r-th
-- reads: class_sensitive_value, ordered_class

-- The attack succeeds for people whose guessed value is that of the source. Compare it with `order_by_chance`.

-- statement: classes
SELECT class_id, size AS targets, CAST(hits AS DOUBLE) / nullif(CAST(size AS DOUBLE), 0) AS confidence, hits AS succeeded
FROM ordered_class

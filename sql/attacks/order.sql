-- attack: order
-- title: An adversary who knows in which order people stand in the source takes the r-th row of a class for the r-th of them who is in it.
-- paper: DuckDB keeps the order of insertion: a release that is written row by row has the order of its source
-- falls: no -- in a union other rows are the r-th
-- reads: class_sensitive_value, ordered_class

-- Succeeded are the people whose value is named right, by the source: compare with `order_by_chance`.

-- statement: classes
SELECT class_id, size AS targets, CAST(hits AS DOUBLE) / nullif(CAST(size AS DOUBLE), 0) AS confidence, hits AS succeeded
FROM ordered_class

-- model: k_map
-- title: Every equivalence class of the release holds at least k rows of the public table.
-- paper: Sweeney, Computational disclosure control: a primer on data privacy protection (2001); El Emam and Dankar, Protecting privacy using k-anonymity (2008)
-- parameter: k BIGINT 1 9223372036854775807 -- the least number of rows of the public table that a class of the release may come from
-- required: at least k
-- monotone: yes -- a union of classes holds the public rows of each of them
-- monotone under suppression: yes -- a class with k public rows keeps them whatever rows are added
-- excess: size, for a class with fewer than k rows of the public table
-- excess maximum: 1
-- reads: equivalence_class, public_class

-- A class that the public table does not have at all holds none of its rows.

-- statement: achieved
SELECT min(coalesce(p.n, 0)) AS achieved
FROM equivalence_class AS c
LEFT JOIN public_class AS p ON p.class_id = c.class_id

-- statement: violations
SELECT c.class_id, c.size, CAST(c.size AS DOUBLE) AS excess
FROM equivalence_class AS c
LEFT JOIN public_class AS p ON p.class_id = c.class_id
WHERE coalesce(p.n, 0) < $k

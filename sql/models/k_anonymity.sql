-- model: k_anonymity
-- title: Every equivalence class holds at least k respondents.
-- in words: at least {required} {people} look alike
-- paper: Samarati, Protecting respondents' identities in microdata release (2001), definition 2.2; Sweeney (2002)
-- parameter: k BIGINT 1 9223372036854775807 -- the least number of respondents of a class
-- required: at least k
-- least rows: k -- each respondent has at least one row
-- enough rows: k -- nothing but respondents is counted
-- monotone: yes -- a union of classes holds the respondents of each of them
-- monotone under suppression: yes -- a class with k respondents keeps them whatever rows are added
-- several values: yes -- the model reads no values
-- overlapping classes: yes -- each class is judged by its own respondents
-- excess: size, for a class with fewer than k respondents
-- excess maximum: 1
-- reads: equivalence_class

-- statement: achieved
SELECT min(entities) AS achieved FROM equivalence_class

-- statement: violations
SELECT class_id, size, CAST(size AS DOUBLE) AS excess FROM equivalence_class WHERE entities < $k

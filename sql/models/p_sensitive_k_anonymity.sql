-- model: p_sensitive_k_anonymity
-- title: Every equivalence class holds at least k respondents and at least p different sensitive values.
-- paper: Truta and Vinay, Privacy protection: p-sensitive k-anonymity property (2006)
-- parameter: p BIGINT 1 9223372036854775807 -- the least number of different values of a class
-- parameter: k BIGINT 1 9223372036854775807 -- the least number of respondents of a class
-- required: at least p
-- least rows: k -- each respondent has at least one row
-- monotone: yes -- a union of classes holds the respondents and the values of each of them
-- monotone under suppression: yes -- a class keeps its respondents and its values whatever rows are added
-- several values: no -- the model also bounds the number of respondents, and respondents without values are in no class of values
-- overlapping classes: yes -- each class is judged by its own respondents and values
-- excess: size, for a class that violates
-- excess maximum: 1
-- reads: equivalence_class, class_sensitive_value
-- achieved is the least number of values. A class with fewer than k respondents violates, but does not change achieved.

-- statement: achieved
SELECT min(distinct_values) AS achieved
FROM (SELECT count(*) AS distinct_values FROM class_sensitive_value GROUP BY class_id) AS class

-- statement: violations
SELECT equivalence_class.class_id, equivalence_class.size, CAST(equivalence_class.size AS DOUBLE) AS excess
FROM equivalence_class
INNER JOIN (
  SELECT class_id, count(*) AS distinct_values FROM class_sensitive_value GROUP BY class_id
) AS class ON class.class_id = equivalence_class.class_id
WHERE equivalence_class.entities < $k OR distinct_values < $p

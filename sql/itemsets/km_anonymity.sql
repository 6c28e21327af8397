-- model: km_anonymity
-- title: Every set of at most m items in a list is in the lists of at least k rows of the list's class, and the class has at least k rows.
-- paper: Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data (2008)
-- parameter: k BIGINT 1 9223372036854775807 -- the least number of lists that have a set of items
-- parameter: m BIGINT 1 8 -- the greatest number of items that an adversary knows of a list
-- required: at least k
-- least rows: k -- an adversary who knows no item finds all rows of the class
-- most items: m
-- monotone: yes -- lists of two classes that have a set are added up
-- monotone under suppression: no -- an added list may have a set that no other list has
-- excess: none is known that never grows when classes merge
-- excess maximum: 1
-- reads: equivalence_class, class_itemset
-- Classes are formed by the quasi-identifiers other than the list. The empty set is in every list of a class. All sizes up to m are
-- counted, because a larger set may be rare although its parts are frequent.

-- statement: achieved
SELECT min(n) AS achieved
FROM (
  SELECT size AS n FROM equivalence_class
  UNION ALL
  SELECT n FROM class_itemset WHERE items <= $m
) AS support

-- statement: violations
SELECT equivalence_class.class_id, equivalence_class.size, CAST(0 AS DOUBLE) AS excess
FROM equivalence_class
LEFT JOIN (
  SELECT class_id, min(n) AS n FROM class_itemset WHERE items <= $m GROUP BY class_id
) AS rarest ON rarest.class_id = equivalence_class.class_id
WHERE equivalence_class.size < $k OR rarest.n < $k

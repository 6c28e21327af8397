-- model: coherence
-- title: Every set of at most p items in a list is in the lists of at least k rows of the list's class, and at most a share h of these lists have the same sensitive item.
-- paper: Xu, Wang, Fu and Yu, Anonymizing transaction databases for publication (2008)
-- parameter: h DECIMAL 0 1 -- the greatest share of the same sensitive item among the lists with a set of items
-- parameter: k BIGINT 1 9223372036854775807 -- the least number of lists that have a set of items
-- parameter: p BIGINT 1 8 -- the greatest number of items that an adversary knows of a list
-- required: at most h
-- least rows: k -- an adversary who knows no item finds all rows of the class
-- most items: p
-- monotone: yes -- lists of two classes that have a set are added up, and a share in both is at most the greater of theirs
-- monotone under suppression: no -- an added list may have a sensitive item and a set that no other list has
-- joint: no
-- excess: none is known that never grows when classes merge
-- excess maximum: 1
-- reads: equivalence_class, class_itemset_value
-- Classes are formed by the quasi-identifiers other than the list. achieved is the greatest share; a set in fewer than k lists
-- counts among the violations only. If two items become one, a share may grow, because lists that have both count once: so a search
-- for labels cannot prune by the shares. Leaving out an item everywhere removes the sets with this item, and changes no other set.

-- statement: achieved
SELECT max(CAST(most AS DOUBLE) / nullif(CAST(n AS DOUBLE), 0)) AS achieved
FROM class_itemset_value
WHERE items <= $p

-- statement: violations
SELECT equivalence_class.class_id, equivalence_class.size, CAST(0 AS DOUBLE) AS excess
FROM equivalence_class
INNER JOIN (
  SELECT class_id
  FROM class_itemset_value
  WHERE items <= $p AND (
    n < $k OR CAST(most AS DECIMAL(38, 0)) * $h_denominator > CAST(n AS DECIMAL(38, 0)) * $h_numerator
  )
  GROUP BY class_id
) AS violating ON violating.class_id = equivalence_class.class_id

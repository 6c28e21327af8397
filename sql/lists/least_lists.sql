-- classes, lists: the number of classes that have too few rows, or some lists with items but too few, and the number of
-- these lists (of the rows where no list has items). empty: whether none of these lists has items.
SELECT
  count(*) AS classes,
  coalesce(sum(CASE WHEN lists > 0 THEN lists ELSE rows END), 0) AS lists,
  coalesce(max(lists), 0) = 0 AS empty
FROM (
  SELECT listed.class, count(*) AS rows, count(labelled.list_id) AS lists
  FROM listed
  LEFT JOIN (SELECT DISTINCT list_id FROM labelled) AS labelled ON labelled.list_id = listed.list_id
  GROUP BY listed.class
) AS counted
WHERE rows < $enough OR (lists > 0 AND lists < $enough)

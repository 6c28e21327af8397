-- class, list_id, code: the items of all lists, which are one class.
SELECT 1 AS class, item.list_id, code.code
FROM item
JOIN code ON item.secret = code.secret AND item.item IS NOT DISTINCT FROM code.item

-- coded_item(class, list_id, code): each item of each list once; NULL is an item.
-- tables: item(class_id, list_id, item), list_class(class_id, class), item_code(item, code)
SELECT DISTINCT of_class.class, listed.list_id, coded.code
FROM item AS listed
JOIN list_class AS of_class ON listed.class_id IS NOT DISTINCT FROM of_class.class_id
JOIN item_code AS coded ON listed.item IS NOT DISTINCT FROM coded.item

-- The number of rows that have NULL in place of a list, or a list that repeats a label.
SELECT count(*) FROM listed
WHERE list IS NULL
  OR len(list) <> len(list_distinct(list)) + CASE WHEN list_position(list, NULL) IS NOT NULL THEN 1 ELSE 0 END

-- Each item of each list once, secret items separately. NULL is an item, and NULL in place of a list is a list without
-- items.
SELECT DISTINCT list_id, secret, item
FROM (
  SELECT list_id, false AS secret, CAST(unnest(items) AS VARCHAR) AS item FROM listed
  UNION ALL
  SELECT list_id, true AS secret, CAST(unnest(secrets) AS VARCHAR) AS item FROM listed
) AS item

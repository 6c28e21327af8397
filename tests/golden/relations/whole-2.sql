SELECT
  *,
  CASE
    WHEN NOT ("prefix" = '' OR unicode(RIGHT("prefix", 1)) = 1114111)
    THEN LEFT("prefix", CAST(length("prefix") - 1 AS INT)) || chr(
      CAST(CASE WHEN unicode(RIGHT("prefix", 1)) + 1 = 55296 THEN 57344 ELSE unicode(RIGHT("prefix", 1)) + 1 END AS INT)
    )
  END AS "behind"
FROM (
  SELECT
    "label", REGEXP_EXTRACT("shown", '^(.*?)(\**)$', 1, 's') AS "prefix",
    LENGTH(REGEXP_EXTRACT("shown", '^(.*?)(\**)$', 2, 's')) AS "stars", "shown" AS "mask"
  FROM "shown"
) AS "mask"

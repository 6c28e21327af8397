-- The number of respondents who stay, of respondents whose value is no longer in their signature, and of newcomers:
-- staying, changed, newcomers; one row.
SELECT
  coalesce(sum(CASE WHEN signature IS NOT NULL THEN 1 ELSE 0 END), 0) AS staying,
  coalesce(sum(CASE WHEN changed THEN 1 ELSE 0 END), 0) AS changed,
  coalesce(sum(CASE WHEN signature IS NULL AND NOT changed THEN 1 ELSE 0 END), 0) AS newcomers
FROM source_row

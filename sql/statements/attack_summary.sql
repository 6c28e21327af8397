-- What an attack comes to over all classes: how many targets it tried, for how many it succeeded, and how sure it is.
SELECT CAST(coalesce(sum(targets), 0) AS BIGINT) AS targets, CAST(round(coalesce(sum(succeeded), 0)) AS BIGINT) AS succeeded,
  max(confidence) AS highest,
  sum(confidence * CAST(targets AS DOUBLE)) / nullif(sum(CAST(targets AS DOUBLE)), 0) AS mean
FROM attacked_class

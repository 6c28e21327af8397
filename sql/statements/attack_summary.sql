-- The result of an attack over all classes: the number of targets, the number of targets for whom it succeeded, and its
-- confidence. A figure that is defined for no class is NULL.
SELECT CAST(coalesce(sum(targets), 0) AS BIGINT) AS targets, 
  CAST(round(CASE WHEN count(*) = 0 OR count(succeeded) > 0 THEN coalesce(sum(succeeded), 0) END) AS BIGINT) AS succeeded,
  max(confidence) AS highest,
  sum(confidence * CAST(targets AS DOUBLE)) / nullif(sum(CAST(targets AS DOUBLE)), 0) AS mean
FROM attacked_class

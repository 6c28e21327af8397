-- The trials with a violating bucket: trial.
--
-- trial: trial, buckets, base; violation: class_id, numbers of buckets. Trial 2 has the 25 buckets from number 50 on,
-- so number 60 is one of them.
SELECT DISTINCT tried.trial
FROM trial AS tried
JOIN violation AS violating ON violating.class_id >= tried.base AND violating.class_id < tried.base + tried.buckets

-- The values of an attribute in each bucket, with the number of the bucket's rows that have the value: class_id, value,
-- n.
--
-- tally: slot, code, n; slots: slot, first, the bucket's first slot; codes: code, value.
SELECT slot.first AS class_id, coded.value, tally.n
FROM tally
JOIN slots AS slot ON slot.slot = tally.slot
JOIN codes AS coded ON coded.code = tally.code

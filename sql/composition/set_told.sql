-- The confidence in the value of each respondent by each set with the respondent: respondent, confidence.
SELECT m.respondent, b.confidence
FROM set_member AS m
JOIN set_belief AS b ON b.set_no = m.set_no

-- How sure somebody is of respondents by the sets that they are in.
SELECT m.respondent, b.confidence
FROM set_member AS m
JOIN set_belief AS b ON b.set_no = m.set_no

-- The respondents of all sets, including the new sets: set_no, respondent, people, member_key.
SELECT set_no, respondent, people, member_key FROM set_member
UNION ALL
SELECT n.set_no, m.respondent, m.people, m.member_key
FROM new_set AS n
JOIN set_member AS m ON m.set_no = n.whole
LEFT JOIN (
  SELECT e.whole, e.family, p.respondent FROM exact AS e JOIN set_member AS p ON p.set_no = e.part
) AS t ON t.whole = n.whole AND t.family = n.of_family AND t.respondent = m.respondent
WHERE n.part IS NULL AND t.respondent IS NULL
UNION ALL
SELECT n.set_no, m.respondent, m.people, m.member_key
FROM new_set AS n
JOIN set_member AS m ON m.set_no = n.whole
JOIN set_member AS p ON p.set_no = n.part AND p.respondent = m.respondent

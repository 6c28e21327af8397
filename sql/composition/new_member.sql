-- The respondents of all sets, those of the new ones among them.
SELECT set_no, respondent, people, member_key FROM set_member
UNION ALL
SELECT n.set_no, m.respondent, m.people, m.member_key
FROM new_set AS n
JOIN set_member AS m ON m.set_no = n.whole
LEFT JOIN set_member AS p ON p.set_no = n.part AND p.respondent = m.respondent
WHERE p.respondent IS NULL

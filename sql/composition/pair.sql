-- The pairs of sets with respondents in common, at least one of them a set that was not compared yet: whole, part,
-- shared, shared_key. parameter: $1 the greatest number of the sets that were compared
SELECT a.set_no AS whole, b.set_no AS part, sum(a.people) AS shared, bit_xor(a.member_key) AS shared_key
FROM set_member AS a
JOIN set_member AS b ON b.respondent = a.respondent
WHERE b.set_no > $1 AND a.set_no < b.set_no
GROUP BY a.set_no, b.set_no

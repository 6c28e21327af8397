-- The parts of a set, in the sets of one family, such that all rows of the respondents outside of the part are known,
-- and so the rows of the respondents in it: whole, part, family, shared, shared_key, within. within is whether the part
-- has no other respondents than the set.
SELECT d.whole, d.part, p.family, w.people - d.people AS shared, xor(w.members_key, d.members_key) AS shared_key,
  p.people = w.people - d.people AS within
FROM (
  SELECT DISTINCT whole, part, people, members_key FROM difference WHERE people > 0 AND nobody = 0 AND total = people
) AS d
JOIN known_set AS w ON w.set_no = d.whole
JOIN known_set AS p ON p.set_no = d.part

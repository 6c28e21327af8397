-- The respondents of each set, with the bits by which members_key distinguishes them: set_no, respondent, people,
-- member_key.
SELECT s.set_no, m.respondent, m.people, md5_number(CAST(m.respondent AS VARCHAR)) AS member_key
FROM known_set AS s
JOIN member AS m ON m.release = s.release AND m.class = s.class

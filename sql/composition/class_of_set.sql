-- The members of sets as those of classes of one release.
SELECT 0 AS release, set_no AS class, respondent, people FROM set_member

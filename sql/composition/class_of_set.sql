-- The members of sets in the form of classes of one release: release, class, respondent, people.
SELECT 0 AS release, set_no AS class, respondent, people FROM set_member

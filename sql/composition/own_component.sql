-- Each set by itself.
SELECT DISTINCT set_no, set_no AS component FROM set_member

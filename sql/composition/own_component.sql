-- Each set as a component by itself: set_no, component.
SELECT DISTINCT set_no, set_no AS component FROM set_member

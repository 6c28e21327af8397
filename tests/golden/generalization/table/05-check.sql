-- Look for: the requirement asked again of the candidate's own columns, and of no temporary table: what the search
-- believed has no part in it; classes are structs of the published labels.

SELECT "place", "achieved", "violating" FROM ({reported-2('dob', "dob", 4)}) AS "reported";

-- Look for: classes by the labels as they are published, so two regions with the same ranges are one class; k from the
-- policy.

SELECT "place", "achieved", "violating" FROM ({reported-2('dob', "dob", 3)}) AS "reported";

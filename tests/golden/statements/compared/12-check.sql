-- Look for: the requirements are asked of the chosen release alone, as of any other.

SELECT "place", "achieved", "violating" FROM ({reported-2('dob', "dob", 7)}) AS "reported";

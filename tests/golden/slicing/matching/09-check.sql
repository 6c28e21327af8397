-- Look for: k of the buckets alone; p(t,s) is not computed, for the published tables do not say which combinations are people.

SELECT "place", "achieved", "violating" FROM ({reported(10)}) AS "reported";

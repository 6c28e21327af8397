-- Look for: the classes are those of the published columns, and nothing else.

SELECT "place", "achieved", "violating" FROM ({reported-2('born', "born", 3)}) AS "reported";

-- Look for: the classes by all keys of the release; the least and the greatest hash, which are one where all rows of a class
-- agree, NULL included; counts are all that is read.

SELECT
  COUNT(*), COUNT(*) FILTER(WHERE "n" = 1), COUNT(*) FILTER(WHERE "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE "n" > 1 AND "known_0")
FROM ({class-3("dob")}) AS "class";

-- Look for: the columns without a hierarchy alone, and the first rows alone: there is a remark if one of them has more
-- than a few values.

SELECT COUNT(DISTINCT "dob"), COUNT(DISTINCT "sex"), COUNT(DISTINCT "zip")
FROM (SELECT "dob", "sex", "zip" FROM "memory"."main"."patients" LIMIT 10000) AS "first_rows";

-- Look for: two tables of points that were drawn, with the same numbers of buckets.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT "coded"."bucket", "coded"."dob", CAST("coded"."zip" AS TEXT) AS "zip"
FROM ({coded("__sqlanon_points_1")}) AS "coded";

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT "coded"."bucket", CAST("coded"."sex" AS TEXT) AS "sex", CAST("coded"."disease" AS TEXT) AS "disease"
FROM ({coded-2("__sqlanon_points_1")}) AS "coded";

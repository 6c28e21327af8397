-- Look for: a table for each column; rows of both are the same points, and each table is ordered by bucket and by a draw of its own.

SELECT APPROX_COUNT_DISTINCT("text_0") FROM ({some-2("zip")}) AS "some";

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT "coded"."bucket", "coded"."dob", CAST("coded"."zip" AS TEXT) AS "zip"
FROM ({coded("__sqlanon_points_done_1")}) AS "coded";

SELECT APPROX_COUNT_DISTINCT("text_0"), APPROX_COUNT_DISTINCT("text_1") FROM ({some("disease")}) AS "some";

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT "coded"."bucket", CAST("coded"."sex" AS TEXT) AS "sex", CAST("coded"."disease" AS TEXT) AS "disease"
FROM ({coded-2("__sqlanon_points_done_1")}) AS "coded";

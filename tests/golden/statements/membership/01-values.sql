-- Look for: what each table shows together, once a bucket; here link_0 is the bucket.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
SELECT DISTINCT "bucket" AS "link_0", "dob" AS "attribute_0", "sex" AS "attribute_1", "zip" AS "attribute_2"
FROM (SELECT * FROM "memory"."main"."hospital_release_qi") AS "published";

CREATE TEMPORARY TABLE "__sqlanon_values_2" AS
SELECT DISTINCT "bucket" AS "link_0", "value" AS "attribute_3"
FROM (SELECT * FROM "memory"."main"."hospital_release_sensitive") AS "published";

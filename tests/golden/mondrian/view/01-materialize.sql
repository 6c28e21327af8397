-- Look for: regions and places are copied into tables under the release's id; a combination that is in no place goes
-- to the region whose ranges it lies in, the first of several, and is left out where there is none.

CREATE TABLE "anon"."region_of_the_release" AS SELECT * FROM "__sqlanon_labels_1";
CREATE TABLE "anon"."place_of_the_release" AS SELECT * FROM "__sqlanon_row_regions_1";

CREATE SECURE VIEW "memory"."main"."__sqlanon_candidate_1" ("dob", "sex", "zip", "disease") AS
WITH "source" AS NOT MATERIALIZED ({source}), "placement" AS (
  (SELECT "value_0", "value_1", "value_2", "region" FROM "anon"."place_of_the_release")
  UNION ALL
  (
    SELECT "unseen"."value_0", "unseen"."value_1", "unseen"."value_2", "system"."main".min("box"."region") AS "region"
    FROM (
      (
        SELECT DISTINCT "source"."dob" AS "value_0", "source"."sex" AS "value_1", "source"."zip" AS "value_2"
        FROM (
          "source"
            ANTI JOIN "anon"."place_of_the_release" AS "place"
              ON ((
                ("source"."dob" IS NOT DISTINCT FROM "place"."value_0")
                AND ("source"."sex" IS NOT DISTINCT FROM "place"."value_1")
                AND ("source"."zip" IS NOT DISTINCT FROM "place"."value_2")
              ))
        )
      ) AS "unseen"
      INNER JOIN "anon"."region_of_the_release" AS "box"
        ON ((
          (
            ("unseen"."value_0" BETWEEN "box"."low_value_0" AND "box"."high_value_0")
            OR (("unseen"."value_0" IS NULL) AND "box"."with_null_0")
          )
          AND (
            ("unseen"."value_1" BETWEEN "box"."low_value_1" AND "box"."high_value_1")
            OR (("unseen"."value_1" IS NULL) AND "box"."with_null_1")
          )
          AND (
            ("unseen"."value_2" BETWEEN "box"."low_value_2" AND "box"."high_value_2")
            OR (("unseen"."value_2" IS NULL) AND "box"."with_null_2")
          )
        ))
    )
    GROUP BY "unseen"."value_0", "unseen"."value_1", "unseen"."value_2"
  )
), "recoded" AS NOT MATERIALIZED (
  SELECT
    "region"."class" AS "class_id", "region"."label_0" AS "label_0", "region"."label_1" AS "label_1",
    "region"."label_2" AS "label_2", "source"."disease" AS "column_3"
  FROM (
    (
      "source"
        INNER JOIN "placement"
          ON ((
            ("source"."dob" IS NOT DISTINCT FROM "placement"."value_0")
            AND ("source"."sex" IS NOT DISTINCT FROM "placement"."value_1")
            AND ("source"."zip" IS NOT DISTINCT FROM "placement"."value_2")
          ))
    )
    INNER JOIN "anon"."region_of_the_release" AS "region" ON (("region"."region" = "placement"."region"))
  )
), "equivalence_class" AS ({equivalence_class-2}), "kept" AS ({kept(3)})
SELECT
  "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
  "system"."main".struct_extract(CAST("system"."main"."row"("recoded"."column_3") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM ("recoded" INNER JOIN "kept" ON (("recoded"."class_id" = "kept"."class_id")))
WHERE ({query-4});

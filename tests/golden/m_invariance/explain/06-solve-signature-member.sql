-- Look for: the respondents who are here again, each once.

CREATE TEMPORARY TABLE "__sqlanon_signature_member_1" AS
SELECT
  "latest"."respondent" AS "entity",
  "s"."signature"
FROM (
  SELECT
    "respondent",
    $1 AS "position",
    "former_class" AS "class_no"
  FROM "__sqlanon_former_1" AS "former"
  WHERE
    NOT "former_class" IS NULL
  UNION ALL
  SELECT
    "respondent",
    "position",
    "class_no"
  FROM "__sqlanon_returner_1" AS "returner"
) AS "latest"
JOIN "__sqlanon_class_key_1" AS "c"
  ON "c"."position" = "latest"."position" AND "c"."class_no" = "latest"."class_no"
JOIN "__sqlanon_signature_1" AS "s"
  ON "s"."key" = "c"."key";

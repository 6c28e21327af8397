-- Look for: the respondents who are here again, each once.

CREATE TEMPORARY TABLE "__sqlanon_signature_member_1" AS
SELECT "f"."respondent" AS "entity", "c"."signature"
FROM "__sqlanon_former_1" AS "f"
JOIN (
  SELECT "k"."class_no", "s"."signature"
  FROM "__sqlanon_class_key_1" AS "k"
  JOIN "__sqlanon_signature_1" AS "s" ON "s"."key" = "k"."key"
  WHERE "k"."position" = $1
) AS "c" ON "c"."class_no" = "f"."former_class"
UNION ALL
SELECT "r"."respondent" AS "entity", "s"."signature"
FROM "__sqlanon_returner_1" AS "r"
JOIN "__sqlanon_class_key_1" AS "k" ON "k"."position" = "r"."position" AND "k"."class_no" = "r"."class_no"
JOIN "__sqlanon_signature_1" AS "s" ON "s"."key" = "k"."key";

-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_code_1" AS
SELECT
  "label"."value",
  "mask"."code"
FROM "__sqlanon_label_5" AS "label"
ASOF JOIN "__sqlanon_mask_5" AS "mask"
  ON "label"."number" >= "mask"."first";

CREATE TEMPORARY TABLE "__sqlanon_code_2" AS
SELECT
  "label"."value",
  "mask"."code"
FROM "__sqlanon_label_6" AS "label"
ASOF JOIN "__sqlanon_mask_6" AS "mask"
  ON "label"."number" >= "mask"."first";

CREATE TEMPORARY TABLE "__sqlanon_code_3" AS
SELECT
  "label"."value",
  "mask"."code"
FROM "__sqlanon_label_7" AS "label"
ASOF JOIN "__sqlanon_mask_7" AS "mask"
  ON "label"."number" >= "mask"."first";

CREATE TEMPORARY TABLE "__sqlanon_code_4" AS
SELECT
  "label"."value",
  "mask"."code"
FROM "__sqlanon_label_8" AS "label"
ASOF JOIN "__sqlanon_mask_8" AS "mask"
  ON "label"."number" >= "mask"."first";

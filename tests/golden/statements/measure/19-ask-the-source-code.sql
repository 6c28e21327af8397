-- Look for: a value's code is that of the last change before it: ASOF JOIN, one row for each value.

CREATE TEMPORARY TABLE "__sqlanon_code_1" AS
SELECT "label"."value", "mask"."code"
FROM "__sqlanon_label_5" AS "label"
ASOF JOIN "__sqlanon_mask_1" AS "mask" ON "label"."number" >= "mask"."first";

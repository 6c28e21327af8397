-- Look for: each column's labels once and numbered; a text only for those whose labels stand for several values (dob,
-- zip).

CREATE TEMPORARY TABLE "__sqlanon_label_1" AS
SELECT CAST(ROW_NUMBER() OVER () AS INT) AS "number", *, CAST("label" AS TEXT) AS "text"
FROM (SELECT DISTINCT "label_0" AS "label" FROM "__sqlanon_labelled_1" AS "labelled") AS "distinct_label";

CREATE TEMPORARY TABLE "__sqlanon_label_2" AS
SELECT CAST(ROW_NUMBER() OVER () AS INT) AS "number", *, CAST("label" AS TEXT) AS "text"
FROM (SELECT DISTINCT "label_1" AS "label" FROM "__sqlanon_labelled_1" AS "labelled") AS "distinct_label";

CREATE TEMPORARY TABLE "__sqlanon_label_3" AS
SELECT CAST(ROW_NUMBER() OVER () AS INT) AS "number", *
FROM (SELECT DISTINCT "label_2" AS "label" FROM "__sqlanon_labelled_1" AS "labelled") AS "distinct_label";

CREATE TEMPORARY TABLE "__sqlanon_label_4" AS
SELECT CAST(ROW_NUMBER() OVER () AS INT) AS "number", *
FROM (SELECT DISTINCT "label_3" AS "label" FROM "__sqlanon_labelled_1" AS "labelled") AS "distinct_label";

SELECT 0 AS "table_index", COUNT(*) AS "labels"
FROM "__sqlanon_label_1" AS "label"
UNION ALL
SELECT 1 AS "table_index", COUNT(*) AS "labels"
FROM "__sqlanon_label_2" AS "label"
UNION ALL
SELECT 2 AS "table_index", COUNT(*) AS "labels"
FROM "__sqlanon_label_3" AS "label"
UNION ALL
SELECT 3 AS "table_index", COUNT(*) AS "labels"
FROM "__sqlanon_label_4" AS "label";

SELECT "query", "number" FROM ({share("__sqlanon_label_3", 2)}) AS "share";
SELECT "query", "number" FROM ({share("__sqlanon_label_4", 3)}) AS "share";

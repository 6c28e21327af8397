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

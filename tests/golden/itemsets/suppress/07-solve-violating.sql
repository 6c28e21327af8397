-- Look for: the codes of the sets that violate, each once, whatever class they violate in. Python chooses which items hit all of them.

CREATE TEMPORARY TABLE "__sqlanon_violating_1" AS
SELECT DISTINCT "judged"."code_0"
FROM "__sqlanon_judged_2" AS "judged"
WHERE "judged"."class_id" IN ({judged("__sqlanon_judged_2")});

SELECT "code_0" FROM "__sqlanon_violating_1";

CREATE TEMPORARY TABLE "__sqlanon_violating_2" AS
SELECT DISTINCT "judged"."code_0", "judged"."code_1"
FROM "__sqlanon_judged_3" AS "judged"
WHERE "judged"."class_id" IN ({judged("__sqlanon_judged_3")});

SELECT "code_0", "code_1" FROM "__sqlanon_violating_2";

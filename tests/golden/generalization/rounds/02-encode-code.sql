-- Look for: the sensitive value's field above those of all quasi-identifiers (bit 10): no mask of a node reaches it.

CREATE TEMPORARY TABLE "__sqlanon_code_4" AS SELECT "value", ("rank_0" << 10) AS "key_0" FROM "__sqlanon_values_1";

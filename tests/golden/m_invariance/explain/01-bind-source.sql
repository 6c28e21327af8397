-- Look for: the policy's query is copied once, its number of a patient with it.

CREATE TEMPORARY VIEW "__sqlanon_source_1" AS SELECT *, rowid AS number FROM patients;
CREATE TEMPORARY TABLE "__sqlanon_source_2" AS SELECT "dob", "sex", "zip", "disease", "number" FROM "__sqlanon_source_1";

-- Look for: a query is copied, so that its rows have numbers.

CREATE TEMPORARY VIEW "__sqlanon_source_1" AS SELECT epoch(dob) AS born, sex, zip::INTEGER AS zip, disease FROM patients;
CREATE TEMPORARY TABLE "__sqlanon_source_2" AS SELECT "born", "sex", "zip", "disease" FROM "__sqlanon_source_1";

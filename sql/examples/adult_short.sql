-- The short form: it names a file, the columns that others may know, and the column that they must not learn.
--
-- Needs the table `adult`, and writes the file adult.csv. `sqlanon demo` runs it first.
COPY (
    SELECT age, workclass, education, marital_status, race, sex, native_country, occupation
    FROM adult WHERE COLUMNS(*) IS NOT NULL
) TO 'adult.csv';

CREATE OR REPLACE ANONYMIZED TABLE people FROM 'adult.csv'
    (age, workclass, education, marital_status, race, sex, native_country) SENSITIVE occupation
    REQUIRE k_anonymity(5), l_diversity(2);

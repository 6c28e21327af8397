-- From a census extract to a release that can be given away.
--
-- Needs the table `adult` (sqlanon dataset adult --database F) and the hierarchies of
-- adult_hierarchies.sql. `sqlanon demo` runs all three.

-- Ordinary SQL is DuckDB's and runs as it stands. 45,222 of the 48,842 rows are complete.
CREATE OR REPLACE TABLE adult_complete AS
SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL;

-- A policy gives each column its role. The quasi-identifiers are what somebody may know of
-- a person from elsewhere; the sensitive attribute is what they would like to learn.
-- A column that is not named (fnlwgt, relationship, capital_gain, ...) is not published.
CREATE OR REPLACE POLICY census ON adult_complete (
    age            QUASI IDENTIFIER USING adult_age,
    workclass      QUASI IDENTIFIER USING adult_workclass,
    education      QUASI IDENTIFIER USING adult_education,
    marital_status QUASI IDENTIFIER USING adult_marital_status,
    race           QUASI IDENTIFIER USING adult_race,
    sex            QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country,
    occupation     SENSITIVE,
    salary_class   INSENSITIVE
) REQUIRE k_anonymity(k => 5);

-- A dry run: what would be published, at which level, and what it costs.
-- Up to 2 % of the rows may be left out where that keeps the others more precise.
EXPLAIN ANONYMIZED TABLE adult_release AS POLICY census METHOD generalization(suppression => 0.02);

-- A snapshot: generalized, in random order, checked from its own rows before it appears.
CREATE OR REPLACE ANONYMIZED TABLE adult_release AS POLICY census METHOD generalization(suppression => 0.02);

-- A live view: follows adult_complete, and withholds whatever would break the requirement.
-- sqlanon warns that it is not the only release about these people: give away one of the two.
CREATE OR REPLACE ANONYMIZED VIEW adult_live AS POLICY census METHOD generalization(suppression => 0.02);

-- The release is an ordinary table.
SELECT age, sex, count(*) AS people,
       round(100 * avg((salary_class = '>50K')::INTEGER), 1) AS percent_above_50k
FROM adult_release
GROUP BY age, sex
ORDER BY age, sex
LIMIT 8;

-- Recomputed now: what is required and what is reached, and 0 if it is not.
CHECK adult_release;

-- What is given away is a file of its own, with its certificate beside it. This
-- database still holds the source.
EXPORT adult_release TO 'release' (FORMAT parquet, REPLACE true);

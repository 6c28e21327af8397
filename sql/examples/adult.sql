-- From a census extract to a release that can be signed and given away.
--
-- Needs the table `adult` (sqlanon dataset adult --database F) and the hierarchies of
-- adult_hierarchies.sql. `sqlanon demo` runs all three, and writes a report about the release.

-- Ordinary SQL is DuckDB's and runs as it stands. 45,222 of the 48,842 rows are complete.
CREATE OR REPLACE TABLE adult_complete AS
SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL;

-- A policy gives each column its role. The quasi-identifiers are what somebody may know of
-- a person from elsewhere; the sensitive attribute is what they would like to learn.
-- A column that is not named (fnlwgt, relationship, capital_gain, ...) is not published.
--
-- k-anonymity alone hides whose row it is. Where five people who look alike have one occupation,
-- it is known all the same. So the most frequent occupation of a class has half of its rows at most.
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
) REQUIRE k_anonymity(k => 5), l_diversity(l => 2, variant => 'probabilistic');

-- A dry run: what would be published, and what it costs.
EXPLAIN ANONYMIZED TABLE adult_release AS POLICY census METHOD mondrian;

-- A snapshot: each group of rows shows ranges of its own, no row is left out, and every
-- requirement is checked from the release's own rows before it appears.
CREATE OR REPLACE ANONYMIZED TABLE adult_release AS POLICY census METHOD mondrian;

-- The release is an ordinary table.
SELECT age, sex, occupation, count(*) AS people
FROM adult_release
WHERE native_country = 'United-States' AND sex = 'Female' AND occupation = 'Tech-support'
GROUP BY age, sex, occupation
ORDER BY people DESC, age
LIMIT 5;

-- Recomputed now: what is required and what is reached, and 0 if it is not.
CHECK adult_release;

-- What is given away is a file of its own, with its certificate beside it. This
-- database still holds the source.
EXPORT adult_release TO 'release' (FORMAT parquet, REPLACE true);

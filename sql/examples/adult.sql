-- From a census extract to a release that can be signed and given away.
--
-- Needs the table `adult` (sqlanon dataset adult --database F) and the hierarchies of
-- adult_hierarchies.sql. `sqlanon demo` runs all three, and writes a report about the release.

-- Other statements are ordinary SQL, which DuckDB runs. 45,222 of the 48,842 rows are complete.
CREATE OR REPLACE TABLE adult_complete AS
SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL;

-- A policy gives each column its role. Quasi-identifiers are columns that a reader may know about
-- a person from elsewhere; the sensitive attribute is what the reader would like to learn.
-- A column that is not named (fnlwgt, relationship, capital_gain, ...) is not published.
--
-- k-anonymity alone hides whose row it is. But if the five people of a class have the same occupation,
-- a reader learns it all the same. So the most frequent occupation has at most half of the rows of a class.
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

-- A dry run: it shows what would be published, and how much detail is lost.
EXPLAIN ANONYMIZED TABLE adult_release AS POLICY census METHOD mondrian;

-- A snapshot: each group of rows shows its own ranges, and no row is left out. Every
-- requirement is checked on the rows of the release before they are published.
CREATE OR REPLACE ANONYMIZED TABLE adult_release AS POLICY census METHOD mondrian;

-- The release is an ordinary table.
SELECT age, sex, occupation, count(*) AS people
FROM adult_release
WHERE native_country = 'United-States' AND sex = 'Female' AND occupation = 'Tech-support'
GROUP BY age, sex, occupation
ORDER BY people DESC, age
LIMIT 5;

-- CHECK recomputes what the release achieves, and compares it with what is required.
CHECK adult_release;

-- Give away the exported file and its certificate. Do not give away this database,
-- because it still has the source.
EXPORT adult_release TO 'release' (FORMAT parquet, REPLACE true);

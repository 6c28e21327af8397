-- Local recoding and global recoding on the UCI Adult census extract: the loss, and the number of suppressed rows.
--
-- Needs the table `adult` (sqlanon dataset adult --database F) and the hierarchies of
-- adult_hierarchies.sql. The last statement prints the comparison.

CREATE OR REPLACE TABLE adult_complete AS
SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL;

CREATE OR REPLACE POLICY k5 ON adult_complete (
    age            QUASI IDENTIFIER USING adult_age,
    workclass      QUASI IDENTIFIER USING adult_workclass,
    education      QUASI IDENTIFIER USING adult_education,
    marital_status QUASI IDENTIFIER USING adult_marital_status,
    race           QUASI IDENTIFIER USING adult_race,
    sex            QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country,
    occupation     SENSITIVE
) REQUIRE k_anonymity(k => 5);

CREATE OR REPLACE POLICY k50 ON adult_complete (
    age            QUASI IDENTIFIER USING adult_age,
    workclass      QUASI IDENTIFIER USING adult_workclass,
    education      QUASI IDENTIFIER USING adult_education,
    marital_status QUASI IDENTIFIER USING adult_marital_status,
    race           QUASI IDENTIFIER USING adult_race,
    sex            QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country,
    occupation     SENSITIVE
) REQUIRE k_anonymity(k => 50);

CREATE OR REPLACE POLICY l3 ON adult_complete (
    age            QUASI IDENTIFIER USING adult_age,
    workclass      QUASI IDENTIFIER USING adult_workclass,
    education      QUASI IDENTIFIER USING adult_education,
    marital_status QUASI IDENTIFIER USING adult_marital_status,
    race           QUASI IDENTIFIER USING adult_race,
    sex            QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country,
    occupation     SENSITIVE
) REQUIRE k_anonymity(k => 5), l_diversity(l => 3);

CREATE OR REPLACE POLICY t02 ON adult_complete (
    age            QUASI IDENTIFIER USING adult_age,
    workclass      QUASI IDENTIFIER USING adult_workclass,
    education      QUASI IDENTIFIER USING adult_education,
    marital_status QUASI IDENTIFIER USING adult_marital_status,
    race           QUASI IDENTIFIER USING adult_race,
    sex            QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country,
    occupation     SENSITIVE
) REQUIRE k_anonymity(k => 5), t_closeness(t => 0.2);

CREATE OR REPLACE ANONYMIZED TABLE k5_0_global AS POLICY k5
METHOD generalization(suppression => 0, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE k5_0_local AS POLICY k5
METHOD generalization(suppression => 0, recoding => 'local');
CREATE OR REPLACE ANONYMIZED TABLE k5_2_global AS POLICY k5
METHOD generalization(suppression => 0.02, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE k5_2_local AS POLICY k5
METHOD generalization(suppression => 0.02, recoding => 'local');

CREATE OR REPLACE ANONYMIZED TABLE k50_0_global AS POLICY k50
METHOD generalization(suppression => 0, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE k50_0_local AS POLICY k50
METHOD generalization(suppression => 0, recoding => 'local');
CREATE OR REPLACE ANONYMIZED TABLE k50_2_global AS POLICY k50
METHOD generalization(suppression => 0.02, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE k50_2_local AS POLICY k50
METHOD generalization(suppression => 0.02, recoding => 'local');

CREATE OR REPLACE ANONYMIZED TABLE l3_0_global AS POLICY l3
METHOD generalization(suppression => 0, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE l3_0_local AS POLICY l3
METHOD generalization(suppression => 0, recoding => 'local');
CREATE OR REPLACE ANONYMIZED TABLE l3_2_global AS POLICY l3
METHOD generalization(suppression => 0.02, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE l3_2_local AS POLICY l3
METHOD generalization(suppression => 0.02, recoding => 'local');

CREATE OR REPLACE ANONYMIZED TABLE t02_0_global AS POLICY t02
METHOD generalization(suppression => 0, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE t02_0_local AS POLICY t02
METHOD generalization(suppression => 0, recoding => 'local');
CREATE OR REPLACE ANONYMIZED TABLE t02_2_global AS POLICY t02
METHOD generalization(suppression => 0.02, recoding => 'global');
CREATE OR REPLACE ANONYMIZED TABLE t02_2_local AS POLICY t02
METHOD generalization(suppression => 0.02, recoding => 'local');

SELECT
    policy,
    split_part(object_name, '_', 2) || ' %' AS budget,
    round(max(loss) FILTER (object_name LIKE '%_global'), 4) AS global_loss,
    round(max(loss) FILTER (object_name LIKE '%_local'), 4) AS local_loss,
    max(suppressed_rows) FILTER (object_name LIKE '%_global') AS global_suppressed,
    max(suppressed_rows) FILTER (object_name LIKE '%_local') AS local_suppressed
FROM anon.release
WHERE policy IN ('k5', 'k50', 'l3', 't02')
GROUP BY ALL
ORDER BY policy, budget;

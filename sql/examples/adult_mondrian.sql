-- METHOD mondrian on the UCI Adult census extract: how much a class reveals about the occupation beyond the whole table
-- (P_loss: the greatest Jensen-Shannon divergence of a class), the number of regions, and their loss.
--
-- Needs the table `adult` (sqlanon dataset adult --database F) and the hierarchies of
-- adult_hierarchies.sql. The last statement prints the table.

CREATE OR REPLACE TABLE adult_complete AS
SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL;

-- k-anonymity alone. t_closeness with a t of 1 requires nothing, because no divergence is above ln 2; CHECK then shows P_loss.
CREATE OR REPLACE POLICY mondrian_k_10 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 10), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_10 AS POLICY mondrian_k_10 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_k_50 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 50), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_50 AS POLICY mondrian_k_50 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_k_100 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 100), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_100 AS POLICY mondrian_k_100 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_k_200 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 200), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_200 AS POLICY mondrian_k_200 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_k_500 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 500), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_500 AS POLICY mondrian_k_500 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_k_1000 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 1000), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_1000 AS POLICY mondrian_k_1000 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_k_2000 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 2000), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_2000 AS POLICY mondrian_k_2000 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_k_5000 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE k_anonymity(k => 5000), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_5000 AS POLICY mondrian_k_5000 METHOD mondrian;

-- Probabilistic l-diversity alone: no occupation has more than 1 / l of the rows of a region.
CREATE OR REPLACE POLICY mondrian_l_3 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE l_diversity(l => 3, variant => 'probabilistic'), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_l_3 AS POLICY mondrian_l_3 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_l_3_5 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE l_diversity(l => 3.5, variant => 'probabilistic'), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_l_3_5 AS POLICY mondrian_l_3_5 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_l_4 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE l_diversity(l => 4, variant => 'probabilistic'), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_l_4 AS POLICY mondrian_l_4 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_l_4_5 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE l_diversity(l => 4.5, variant => 'probabilistic'), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_l_4_5 AS POLICY mondrian_l_4_5 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_l_5 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE l_diversity(l => 5, variant => 'probabilistic'), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_l_5 AS POLICY mondrian_l_5 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_l_5_5 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE l_diversity(l => 5.5, variant => 'probabilistic'), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_l_5_5 AS POLICY mondrian_l_5_5 METHOD mondrian;

-- t-closeness alone, which bounds P_loss itself.
CREATE OR REPLACE POLICY mondrian_t_0_075 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE t_closeness(t => 0.075, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_t_0_075 AS POLICY mondrian_t_0_075 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_t_0_1 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE t_closeness(t => 0.1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_t_0_1 AS POLICY mondrian_t_0_1 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_t_0_15 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE t_closeness(t => 0.15, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_t_0_15 AS POLICY mondrian_t_0_15 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_t_0_2 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE t_closeness(t => 0.2, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_t_0_2 AS POLICY mondrian_t_0_2 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_t_0_3 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE t_closeness(t => 0.3, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_t_0_3 AS POLICY mondrian_t_0_3 METHOD mondrian;

CREATE OR REPLACE POLICY mondrian_t_0_4 ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex,
    native_country QUASI IDENTIFIER USING adult_native_country, occupation SENSITIVE
) REQUIRE t_closeness(t => 0.4, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_t_0_4 AS POLICY mondrian_t_0_4 METHOD mondrian;

-- The effect of the order of the values: cuts between children of a node only, and words in alphabetical order.
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_5000_tree AS POLICY mondrian_k_5000 METHOD mondrian(hierarchy => 'tree');

CREATE OR REPLACE POLICY mondrian_k_5000_words ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER, education QUASI IDENTIFIER, marital_status QUASI IDENTIFIER,
    race QUASI IDENTIFIER, sex QUASI IDENTIFIER, native_country QUASI IDENTIFIER, occupation SENSITIVE
) REQUIRE k_anonymity(k => 5000), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_5000_words AS POLICY mondrian_k_5000_words METHOD mondrian;

-- Without one of the quasi-identifiers.
CREATE OR REPLACE POLICY mondrian_k_5000_six ON adult_complete (
    age QUASI IDENTIFIER, workclass QUASI IDENTIFIER USING adult_workclass,
    education QUASI IDENTIFIER USING adult_education, marital_status QUASI IDENTIFIER USING adult_marital_status,
    race QUASI IDENTIFIER USING adult_race, sex QUASI IDENTIFIER USING adult_sex, occupation SENSITIVE
) REQUIRE k_anonymity(k => 5000), t_closeness(t => 1, distance => 'jensen_shannon');
CREATE OR REPLACE ANONYMIZED TABLE mondrian_k_5000_six AS POLICY mondrian_k_5000_six METHOD mondrian;

CREATE OR REPLACE TABLE mondrian_regions AS
SELECT
    object_name,
    count(DISTINCT (age, workclass, education, marital_status, race, sex, native_country)) AS regions
FROM (
    SELECT 'mondrian_k_10' AS object_name, * FROM mondrian_k_10
    UNION ALL BY NAME SELECT 'mondrian_k_50' AS object_name, * FROM mondrian_k_50
    UNION ALL BY NAME SELECT 'mondrian_k_100' AS object_name, * FROM mondrian_k_100
    UNION ALL BY NAME SELECT 'mondrian_k_200' AS object_name, * FROM mondrian_k_200
    UNION ALL BY NAME SELECT 'mondrian_k_500' AS object_name, * FROM mondrian_k_500
    UNION ALL BY NAME SELECT 'mondrian_k_1000' AS object_name, * FROM mondrian_k_1000
    UNION ALL BY NAME SELECT 'mondrian_k_2000' AS object_name, * FROM mondrian_k_2000
    UNION ALL BY NAME SELECT 'mondrian_k_5000' AS object_name, * FROM mondrian_k_5000
    UNION ALL BY NAME SELECT 'mondrian_l_3' AS object_name, * FROM mondrian_l_3
    UNION ALL BY NAME SELECT 'mondrian_l_3_5' AS object_name, * FROM mondrian_l_3_5
    UNION ALL BY NAME SELECT 'mondrian_l_4' AS object_name, * FROM mondrian_l_4
    UNION ALL BY NAME SELECT 'mondrian_l_4_5' AS object_name, * FROM mondrian_l_4_5
    UNION ALL BY NAME SELECT 'mondrian_l_5' AS object_name, * FROM mondrian_l_5
    UNION ALL BY NAME SELECT 'mondrian_l_5_5' AS object_name, * FROM mondrian_l_5_5
    UNION ALL BY NAME SELECT 'mondrian_t_0_075' AS object_name, * FROM mondrian_t_0_075
    UNION ALL BY NAME SELECT 'mondrian_t_0_1' AS object_name, * FROM mondrian_t_0_1
    UNION ALL BY NAME SELECT 'mondrian_t_0_15' AS object_name, * FROM mondrian_t_0_15
    UNION ALL BY NAME SELECT 'mondrian_t_0_2' AS object_name, * FROM mondrian_t_0_2
    UNION ALL BY NAME SELECT 'mondrian_t_0_3' AS object_name, * FROM mondrian_t_0_3
    UNION ALL BY NAME SELECT 'mondrian_t_0_4' AS object_name, * FROM mondrian_t_0_4
    UNION ALL BY NAME SELECT 'mondrian_k_5000_tree' AS object_name, * FROM mondrian_k_5000_tree
    UNION ALL BY NAME SELECT 'mondrian_k_5000_words' AS object_name, * FROM mondrian_k_5000_words
    UNION ALL BY NAME SELECT 'mondrian_k_5000_six' AS object_name, * FROM mondrian_k_5000_six
)
GROUP BY object_name;

SELECT
    object_name AS release,
    regions,
    round(max(achieved) FILTER (question = 'jensen_shannon_t_closeness'), 4) AS p_loss,
    round(loss, 4) AS loss
FROM anon.release
JOIN anon.measurement USING (release_id)
JOIN mondrian_regions USING (object_name)
GROUP BY ALL
ORDER BY min(created_at);

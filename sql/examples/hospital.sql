-- 17 patients of a hospital: a release in which each class has at least four of them.
--
--     sqlanon run hospital.sql --database hospital.duckdb

CREATE OR REPLACE TABLE patients AS
SELECT * FROM (VALUES
    (DATE '1950-06-02', 'F', '94141', 'H1N1'),
    (DATE '1950-06-20', 'M', '94132', 'Gastritis'),
    (DATE '1950-06-12', 'M', '94137', 'Dyspepsia'),
    (DATE '1950-06-05', 'F', '94144', 'Pneumonia'),
    (DATE '1940-04-01', 'M', '94143', 'Peptic Ulcer'),
    (DATE '1940-04-02', 'M', '94142', 'Peptic Ulcer'),
    (DATE '1940-04-10', 'F', '94139', 'Peptic Ulcer'),
    (DATE '1940-04-20', 'F', '94130', 'Peptic Ulcer'),
    (DATE '1940-06-07', 'M', '94130', 'Broken Leg'),
    (DATE '1940-06-05', 'M', '94131', 'Short Breath'),
    (DATE '1958-12-11', 'F', '94142', 'Pneumonia'),
    (DATE '1940-06-25', 'F', '94142', 'Broken Leg'),
    (DATE '1940-06-30', 'F', '94145', 'Stomach Cancer'),
    (DATE '1950-05-02', 'F', '94136', 'H1N1'),
    (DATE '1950-05-05', 'F', '94134', 'Flu'),
    (DATE '1950-05-10', 'M', '94147', 'Stomach Cancer'),
    (DATE '1950-05-30', 'M', '94148', 'Gastritis')
) AS t(dob, sex, zip, disease);

-- A date may be published as its month, its year or its decade; a postal code by its
-- first digits. Sex has no hierarchy: it is published unchanged, or as `*` for everybody.
CREATE OR REPLACE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE);
CREATE OR REPLACE HIERARCHY zip_prefix AS PREFIXES (4, 3, 2);

-- MAX LEVEL: no date coarser than its year. MIN LEVEL: no postal code in full.
CREATE OR REPLACE POLICY hospital ON patients (
    dob     QUASI IDENTIFIER USING birth MAX LEVEL 2,
    sex     QUASI IDENTIFIER,
    zip     QUASI IDENTIFIER USING zip_prefix MIN LEVEL 1 MAX LEVEL 3,
    disease SENSITIVE
) REQUIRE k_anonymity(k => 4);

-- One patient, born in 1958, is like nobody else. If this row is left out, 6 % of 17, the
-- other rows can be published by year, sex and the first three digits.
EXPLAIN ANONYMIZED TABLE hospital_release AS POLICY hospital METHOD generalization(suppression => 0.06);

CREATE OR REPLACE ANONYMIZED TABLE hospital_release AS POLICY hospital METHOD generalization(suppression => 0.06);

CHECK hospital_release;

-- 4-anonymity hides which row is whose, but not what a class has in common: of the four women
-- born in 1950 two have the same disease.
SELECT dob, sex, zip, count(*) AS patients, count(DISTINCT disease) AS diseases,
       mode(disease) AS most_frequent, max(frequency) AS patients_with_it
FROM (SELECT *, count(*) OVER (PARTITION BY dob, sex, zip, disease) AS frequency FROM hospital_release)
GROUP BY dob, sex, zip
ORDER BY dob, sex, zip;

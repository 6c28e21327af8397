-- Tables that De Capitani di Vimercati, Foresti, Livraga and Samarati, Protecting Privacy in Data Release (2011), print,
-- and sqlanon's releases of them. `figure_N` is a release, `printed_N` the paper's table of the same number.

CREATE OR REPLACE TABLE figure_1 AS SELECT * FROM (VALUES
    ('123-45-6789', 'Diana Smith', DATE '1950-06-02', 'F', '94141', 'H1N1'),
    ('234-56-7890', 'Nathan Johnson', DATE '1950-06-20', 'M', '94132', 'Gastritis'),
    ('345-67-8901', 'Eric Williams', DATE '1950-06-12', 'M', '94137', 'Dyspepsia'),
    ('456-78-9012', 'Liz Jones', DATE '1950-06-05', 'F', '94144', 'Pneumonia'),
    ('567-89-0123', 'John Brown', DATE '1940-04-01', 'M', '94143', 'Peptic Ulcer'),
    ('678-90-1234', 'Luke Davis', DATE '1940-04-02', 'M', '94142', 'Peptic Ulcer'),
    ('789-01-2345', 'Barbara Miller', DATE '1940-04-10', 'F', '94139', 'Peptic Ulcer'),
    ('890-12-3456', 'Fay Wilson', DATE '1940-04-20', 'F', '94130', 'Peptic Ulcer'),
    ('901-23-4567', 'Anthony Moore', DATE '1940-06-07', 'M', '94130', 'Broken Leg'),
    ('012-34-5678', 'Matt Taylor', DATE '1940-06-05', 'M', '94131', 'Short Breath'),
    ('134-56-7890', 'Jane Doe', DATE '1958-12-11', 'F', '94142', 'Pneumonia'),
    ('245-67-8901', 'Anna Anderson', DATE '1940-06-25', 'F', '94142', 'Broken Leg'),
    ('356-78-9012', 'Carol Thomas', DATE '1940-06-30', 'F', '94145', 'Stomach Cancer'),
    ('467-89-0123', 'Gabrielle White', DATE '1950-05-02', 'F', '94136', 'H1N1'),
    ('578-90-1234', 'Lorna Harris', DATE '1950-05-05', 'F', '94134', 'Flu'),
    ('689-01-2345', 'Rob Martin', DATE '1950-05-10', 'M', '94147', 'Stomach Cancer'),
    ('790-12-3456', 'Bob Thompson', DATE '1950-05-30', 'M', '94148', 'Gastritis')
) AS t(ssn, name, dob, sex, zip, disease);

CREATE OR REPLACE TABLE voters AS
SELECT 'Jane Doe' AS name, DATE '1958-12-11' AS dob, 'F' AS sex, '94142' AS zip;

CREATE OR REPLACE TABLE printed_4 AS SELECT * FROM (VALUES
    ('1950-06', '*', '941**', 'H1N1'), ('1950-06', '*', '941**', 'Gastritis'),
    ('1950-06', '*', '941**', 'Dyspepsia'), ('1950-06', '*', '941**', 'Pneumonia'),
    ('1940-04', '*', '941**', 'Peptic Ulcer'), ('1940-04', '*', '941**', 'Peptic Ulcer'),
    ('1940-04', '*', '941**', 'Peptic Ulcer'), ('1940-04', '*', '941**', 'Peptic Ulcer'),
    ('1940-06', '*', '941**', 'Broken Leg'), ('1940-06', '*', '941**', 'Short Breath'),
    ('1940-06', '*', '941**', 'Broken Leg'), ('1940-06', '*', '941**', 'Stomach Cancer'),
    ('1950-05', '*', '941**', 'H1N1'), ('1950-05', '*', '941**', 'Flu'),
    ('1950-05', '*', '941**', 'Stomach Cancer'), ('1950-05', '*', '941**', 'Gastritis')
) AS t(dob, sex, zip, disease);

CREATE OR REPLACE TABLE printed_5 AS SELECT * FROM (VALUES
    ('1940', 'M', '941**', 'Peptic Ulcer'), ('1940', 'M', '941**', 'Peptic Ulcer'),
    ('1940', 'M', '941**', 'Broken Leg'), ('1940', 'M', '941**', 'Short Breath'),
    ('1950', 'F', '941**', 'H1N1'), ('1950', 'F', '941**', 'Pneumonia'),
    ('1950', 'F', '941**', 'H1N1'), ('1950', 'F', '941**', 'Flu'),
    ('1940', 'F', '941**', 'Peptic Ulcer'), ('1940', 'F', '941**', 'Peptic Ulcer'),
    ('1940', 'F', '941**', 'Broken Leg'), ('1940', 'F', '941**', 'Stomach Cancer'),
    ('1950', 'M', '941**', 'Gastritis'), ('1950', 'M', '941**', 'Dyspepsia'),
    ('1950', 'M', '941**', 'Stomach Cancer'), ('1950', 'M', '941**', 'Gastritis')
) AS t(dob, sex, zip, disease);

CREATE OR REPLACE TABLE printed_7b AS SELECT * FROM (VALUES
    ('1940', '*', '9414*', 'Peptic Ulcer'), ('1940', '*', '9414*', 'Peptic Ulcer'),
    ('1940', '*', '9414*', 'Measles'), ('1940', '*', '9414*', 'Stomach Cancer'),
    ('1940', '*', '9413*', 'Gastritis'), ('1940', '*', '9413*', 'Short Breath'),
    ('1940', '*', '9413*', 'Pneumonia'), ('1940', '*', '9413*', 'Peptic Ulcer'),
    ('1950', '*', '9414*', 'H1N1'), ('1950', '*', '9414*', 'Pneumonia'),
    ('1950', '*', '9414*', 'Measles'), ('1950', '*', '9414*', 'Gastritis'),
    ('1950', '*', '9413*', 'Infract'), ('1950', '*', '9413*', 'Dyspepsia'),
    ('1950', '*', '9413*', 'H1N1'), ('1950', '*', '9413*', 'Thrombosis')
) AS t(dob, sex, zip, disease);

CREATE OR REPLACE TABLE printed_9_1 AS SELECT * FROM (VALUES
    (DATE '1940-04-01', 'M', '94143', 1), (DATE '1940-04-02', 'M', '94142', 1),
    (DATE '1940-06-07', 'M', '94130', 1), (DATE '1940-06-05', 'M', '94131', 1),
    (DATE '1950-06-02', 'F', '94141', 2), (DATE '1950-06-05', 'F', '94144', 2),
    (DATE '1950-05-02', 'F', '94136', 2), (DATE '1950-05-05', 'F', '94134', 2),
    (DATE '1940-04-10', 'F', '94139', 3), (DATE '1940-04-20', 'F', '94130', 3),
    (DATE '1940-06-25', 'F', '94142', 3), (DATE '1940-06-30', 'F', '94145', 3),
    (DATE '1950-06-20', 'M', '94132', 4), (DATE '1950-06-12', 'M', '94137', 4),
    (DATE '1950-05-10', 'M', '94147', 4), (DATE '1950-05-30', 'M', '94148', 4)
) AS t(dob, sex, zip, group_id);

CREATE OR REPLACE TABLE printed_9_2 AS SELECT * FROM (VALUES
    (1, 'Peptic Ulcer', 2), (1, 'Broken Leg', 1), (1, 'Short Breath', 1),
    (2, 'H1N1', 2), (2, 'Pneumonia', 1), (2, 'Flu', 1),
    (3, 'Peptic Ulcer', 2), (3, 'Broken Leg', 1), (3, 'Stomach Cancer', 1),
    (4, 'Gastritis', 2), (4, 'Dyspepsia', 1), (4, 'Stomach Cancer', 1)
) AS t(group_id, disease, n);

-- A row of Figure 11 is a patient: the groups in F1 and F2. The association A has each pair of groups.
CREATE OR REPLACE TABLE printed_11 AS SELECT * FROM (VALUES
    (DATE '1950-06-02', 'F', '94141', 1, 'H1N1', 1), (DATE '1950-06-20', 'M', '94132', 1, 'Gastritis', 2),
    (DATE '1950-06-12', 'M', '94137', 2, 'Dyspepsia', 2), (DATE '1950-06-05', 'F', '94144', 2, 'Pneumonia', 3),
    (DATE '1940-04-01', 'M', '94143', 3, 'Peptic Ulcer', 1), (DATE '1940-04-02', 'M', '94142', 5, 'Peptic Ulcer', 3),
    (DATE '1940-04-10', 'F', '94139', 4, 'Peptic Ulcer', 5), (DATE '1940-04-20', 'F', '94130', 6, 'Peptic Ulcer', 7),
    (DATE '1940-06-07', 'M', '94130', 3, 'Broken Leg', 4), (DATE '1940-06-05', 'M', '94131', 5, 'Short Breath', 6),
    (DATE '1940-06-25', 'F', '94142', 6, 'Broken Leg', 6), (DATE '1940-06-30', 'F', '94145', 4, 'Stomach Cancer', 4),
    (DATE '1950-05-02', 'F', '94136', 7, 'H1N1', 5), (DATE '1950-05-05', 'F', '94134', 7, 'Flu', 8),
    (DATE '1950-05-10', 'M', '94147', 8, 'Stomach Cancer', 7), (DATE '1950-05-30', 'M', '94148', 8, 'Gastritis', 8)
) AS t(dob, sex, zip, group_1, disease, group_2);

CREATE OR REPLACE TABLE printed_11_a AS SELECT * FROM (VALUES
    (1, 1), (1, 2), (2, 2), (2, 3), (3, 1), (3, 4), (4, 5), (4, 4),
    (5, 3), (5, 6), (6, 7), (6, 6), (7, 5), (7, 8), (8, 7), (8, 8)
) AS t(group_1, group_2);

-- Each patient of F1 with each disease that A leads to.
CREATE OR REPLACE VIEW reachable_11 AS
SELECT l.dob, l.sex, l.zip, r.disease
FROM printed_11 AS l JOIN printed_11_a AS a USING (group_1) JOIN printed_11 AS r ON r.group_2 = a.group_2;

CREATE OR REPLACE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE);
CREATE OR REPLACE HIERARCHY zip_prefix AS PREFIXES (4, 3, 2);
-- Figure 8, and the other diseases of Figure 1 beside it.
CREATE OR REPLACE HIERARCHY figure_8 AS LEVELS (FROM (VALUES
    ('Gastritis', 'Stomach-Related'), ('Dyspepsia', 'Stomach-Related'), ('Peptic Ulcer', 'Stomach-Related'),
    ('Stomach Cancer', 'Stomach-Related'), ('H1N1', 'Respiratory'), ('Pneumonia', 'Respiratory'),
    ('Flu', 'Respiratory'), ('Short Breath', 'Respiratory'), ('Broken Leg', 'Broken Leg')
));

CREATE OR REPLACE POLICY births ON figure_1 (dob QUASI IDENTIFIER USING birth, disease SENSITIVE)
REQUIRE k_anonymity(k => 4);

CREATE OR REPLACE POLICY figure_4 ON figure_1 (
    dob QUASI IDENTIFIER USING birth MIN LEVEL 1 MAX LEVEL 1, sex QUASI IDENTIFIER MIN LEVEL 1,
    zip QUASI IDENTIFIER USING zip_prefix MIN LEVEL 2 MAX LEVEL 2, disease SENSITIVE
) REQUIRE k_anonymity(k => 4);
CREATE OR REPLACE ANONYMIZED TABLE figure_4 AS POLICY figure_4 METHOD generalization(suppression => 0.06);

CREATE OR REPLACE POLICY figure_5 ON figure_1 (
    dob QUASI IDENTIFIER USING birth MIN LEVEL 2 MAX LEVEL 2, sex QUASI IDENTIFIER MAX LEVEL 0,
    zip QUASI IDENTIFIER USING zip_prefix MIN LEVEL 2 MAX LEVEL 2, disease SENSITIVE
) REQUIRE k_anonymity(k => 4), l_diversity(l => 3);
CREATE OR REPLACE ANONYMIZED TABLE figure_5 AS POLICY figure_5 METHOD generalization(suppression => 0.06);

-- Figure 7: ten patients are in both tables. Of the other six of the second only the classes and diseases are printed.
CREATE OR REPLACE TABLE first_table AS SELECT name, dob, sex, zip, disease FROM figure_1 WHERE name <> 'Jane Doe';
CREATE OR REPLACE TABLE second_table AS
SELECT * FROM first_table
WHERE split_part(name, ' ', 1) NOT IN ('Anthony', 'Lorna', 'Barbara', 'Anna', 'Nathan', 'Rob')
UNION ALL FROM (VALUES
    ('new 1', DATE '1940-05-01', 'M', '94141', 'Measles'), ('new 2', DATE '1940-05-02', 'F', '94131', 'Gastritis'),
    ('new 3', DATE '1940-05-03', 'M', '94132', 'Pneumonia'), ('new 4', DATE '1950-07-01', 'F', '94146', 'Measles'),
    ('new 5', DATE '1950-07-02', 'M', '94133', 'Infract'), ('new 6', DATE '1950-07-03', 'F', '94135', 'Thrombosis')
);

CREATE OR REPLACE POLICY figure_7a ON first_table (
    name ENTITY, dob QUASI IDENTIFIER USING birth MIN LEVEL 2 MAX LEVEL 2, sex QUASI IDENTIFIER MAX LEVEL 0,
    zip QUASI IDENTIFIER USING zip_prefix MIN LEVEL 2 MAX LEVEL 2, disease SENSITIVE
) REQUIRE k_anonymity(k => 4), l_diversity(l => 3);
CREATE OR REPLACE ANONYMIZED TABLE figure_7a AS POLICY figure_7a METHOD generalization;

CREATE OR REPLACE POLICY figure_7b ON second_table (
    name ENTITY, dob QUASI IDENTIFIER USING birth MIN LEVEL 2 MAX LEVEL 2, sex QUASI IDENTIFIER MIN LEVEL 1,
    zip QUASI IDENTIFIER USING zip_prefix MIN LEVEL 1 MAX LEVEL 1, disease SENSITIVE
) REQUIRE k_anonymity(k => 4), l_diversity(l => 3);
CREATE OR REPLACE ANONYMIZED TABLE figure_7b AS POLICY figure_7b METHOD generalization;

CREATE OR REPLACE POLICY figure_9 ON (SELECT dob, sex, zip, disease FROM first_table) (
    dob QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE
) REQUIRE k_anonymity(k => 4), l_diversity(l => 3);
CREATE OR REPLACE ANONYMIZED TABLE figure_9 AS POLICY figure_9 METHOD mondrian(publish => 'none');

CREATE OR REPLACE POLICY figure_10 ON (SELECT dob, sex, zip, disease FROM first_table) (
    dob QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE
) CONFIDENTIAL (dob, sex, zip, disease);

CREATE BUDGET IF NOT EXISTS counts ON POLICY births (epsilon => 1);

-- The people whom Alice knows.
CREATE OR REPLACE VIEW barbara AS FROM figure_1 WHERE name = 'Barbara Miller';
CREATE OR REPLACE VIEW carol AS FROM figure_1 WHERE name = 'Carol Thomas';
CREATE OR REPLACE VIEW diana AS FROM figure_1 WHERE name = 'Diana Smith';
CREATE OR REPLACE VIEW gabrielle AS FROM figure_1 WHERE name = 'Gabrielle White';

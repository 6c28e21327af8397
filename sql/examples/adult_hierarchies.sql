-- Generalization hierarchies for the UCI Adult census extract.
--
-- A hierarchy lists the labels that may be published in place of a value. Level 0 is the
-- value, each further level is coarser, and the last level is always `*`, which sqlanon
-- adds. The groupings are examples: if you change them, the releases change as well.
--
-- Run this file once in the database that holds the table `adult`:
--     sqlanon dataset adult --database census.duckdb
--     sqlanon run adult_hierarchies.sql --database census.duckdb

-- Ages as ranges: 37 lies in [35, 40), [30, 40), [20, 40) and [0, 40).
-- Each width divides the next one, so the ranges nest.
CREATE OR REPLACE HIERARCHY adult_age AS INTERVALS (5, 10, 20, 40);

-- LEVELS reads a query with one row for each value: the value, then its labels at level 1, level 2, ...
-- The query may read a file: LEVELS (SELECT * FROM read_csv('workclass.csv')).
CREATE OR REPLACE HIERARCHY adult_workclass AS LEVELS (
    SELECT * FROM (VALUES
        ('Private',          'Employee of a company', 'Not in government'),
        ('Self-emp-inc',     'Self-employed',         'Not in government'),
        ('Self-emp-not-inc', 'Self-employed',         'Not in government'),
        ('Without-pay',      'Unpaid',                'Not in government'),
        ('Never-worked',     'Unpaid',                'Not in government'),
        ('Local-gov',        'Local or state office', 'In government'),
        ('State-gov',        'Local or state office', 'In government'),
        ('Federal-gov',      'Federal office',        'In government')
    ) AS h(value, employer, sector)
);

CREATE OR REPLACE HIERARCHY adult_education AS LEVELS (
    SELECT * FROM (VALUES
        ('Preschool',    'Up to 8th grade',         'No diploma'),
        ('1st-4th',      'Up to 8th grade',         'No diploma'),
        ('5th-6th',      'Up to 8th grade',         'No diploma'),
        ('7th-8th',      'Up to 8th grade',         'No diploma'),
        ('9th',          '9th to 12th grade',       'No diploma'),
        ('10th',         '9th to 12th grade',       'No diploma'),
        ('11th',         '9th to 12th grade',       'No diploma'),
        ('12th',         '9th to 12th grade',       'No diploma'),
        ('HS-grad',      'High school diploma',     'Diploma or some college'),
        ('Some-college', 'College below bachelor',  'Diploma or some college'),
        ('Assoc-voc',    'College below bachelor',  'Diploma or some college'),
        ('Assoc-acdm',   'College below bachelor',  'Diploma or some college'),
        ('Bachelors',    'Bachelor',                'University degree'),
        ('Masters',      'Beyond bachelor',         'University degree'),
        ('Prof-school',  'Beyond bachelor',         'University degree'),
        ('Doctorate',    'Beyond bachelor',         'University degree')
    ) AS h(value, stage, degree)
);

CREATE OR REPLACE HIERARCHY adult_marital_status AS LEVELS (
    SELECT * FROM (VALUES
        ('Never-married',         'Single',           'Never wed'),
        ('Married-civ-spouse',    'Married',          'Ever wed'),
        ('Married-AF-spouse',     'Married',          'Ever wed'),
        ('Married-spouse-absent', 'Married',          'Ever wed'),
        ('Separated',             'Formerly married', 'Ever wed'),
        ('Divorced',              'Formerly married', 'Ever wed'),
        ('Widowed',               'Formerly married', 'Ever wed')
    ) AS h(value, status, ever)
);

CREATE OR REPLACE HIERARCHY adult_occupation AS LEVELS (
    SELECT * FROM (VALUES
        ('Exec-managerial',   'Management',              'Desk work'),
        ('Prof-specialty',    'Professions',             'Desk work'),
        ('Tech-support',      'Professions',             'Desk work'),
        ('Adm-clerical',      'Office and sales',        'Desk work'),
        ('Sales',             'Office and sales',        'Desk work'),
        ('Protective-serv',   'Protection and defence',  'Service work'),
        ('Armed-Forces',      'Protection and defence',  'Service work'),
        ('Other-service',     'Personal service',        'Service work'),
        ('Priv-house-serv',   'Personal service',        'Service work'),
        ('Craft-repair',      'Crafts',                  'Manual work'),
        ('Machine-op-inspct', 'Machines and transport',  'Manual work'),
        ('Transport-moving',  'Machines and transport',  'Manual work'),
        ('Handlers-cleaners', 'Labour and farming',      'Manual work'),
        ('Farming-fishing',   'Labour and farming',      'Manual work')
    ) AS h(value, field, kind)
);

CREATE OR REPLACE HIERARCHY adult_race AS LEVELS (
    SELECT * FROM (VALUES
        ('White',              'White'),
        ('Black',              'Black'),
        ('Asian-Pac-Islander', 'Any other'),
        ('Amer-Indian-Eskimo', 'Any other'),
        ('Other',              'Any other')
    ) AS h(value, grouped)
);

-- The query has one column, because there is no level between the value and `*`.
CREATE OR REPLACE HIERARCHY adult_sex AS LEVELS (
    SELECT * FROM (VALUES ('Female'), ('Male')) AS h(value)
);

-- The 41 countries as Adult spells them. 'South' is not explained by its authors and
-- 'Hong' is Hong Kong.
CREATE OR REPLACE HIERARCHY adult_native_country AS LEVELS (
    SELECT * FROM (VALUES
        ('United-States',              'United States',       'North America',     'The Americas'),
        ('Outlying-US(Guam-USVI-etc)', 'United States',       'North America',     'The Americas'),
        ('Canada',                     'Canada',              'North America',     'The Americas'),
        ('Mexico',                     'Mexico',              'Latin America',     'The Americas'),
        ('El-Salvador',                'Central America',     'Latin America',     'The Americas'),
        ('Guatemala',                  'Central America',     'Latin America',     'The Americas'),
        ('Honduras',                   'Central America',     'Latin America',     'The Americas'),
        ('Nicaragua',                  'Central America',     'Latin America',     'The Americas'),
        ('Cuba',                       'Caribbean',           'Latin America',     'The Americas'),
        ('Dominican-Republic',         'Caribbean',           'Latin America',     'The Americas'),
        ('Haiti',                      'Caribbean',           'Latin America',     'The Americas'),
        ('Jamaica',                    'Caribbean',           'Latin America',     'The Americas'),
        ('Puerto-Rico',                'Caribbean',           'Latin America',     'The Americas'),
        ('Trinadad&Tobago',            'Caribbean',           'Latin America',     'The Americas'),
        ('Columbia',                   'South America',       'Latin America',     'The Americas'),
        ('Ecuador',                    'South America',       'Latin America',     'The Americas'),
        ('Peru',                       'South America',       'Latin America',     'The Americas'),
        ('England',                    'British Isles',       'Europe',            'Elsewhere'),
        ('Scotland',                   'British Isles',       'Europe',            'Elsewhere'),
        ('Ireland',                    'British Isles',       'Europe',            'Elsewhere'),
        ('France',                     'Western Europe',      'Europe',            'Elsewhere'),
        ('Germany',                    'Western Europe',      'Europe',            'Elsewhere'),
        ('Holand-Netherlands',         'Western Europe',      'Europe',            'Elsewhere'),
        ('Greece',                     'Southern Europe',     'Europe',            'Elsewhere'),
        ('Italy',                      'Southern Europe',     'Europe',            'Elsewhere'),
        ('Portugal',                   'Southern Europe',     'Europe',            'Elsewhere'),
        ('Hungary',                    'Eastern Europe',      'Europe',            'Elsewhere'),
        ('Poland',                     'Eastern Europe',      'Europe',            'Elsewhere'),
        ('Yugoslavia',                 'Eastern Europe',      'Europe',            'Elsewhere'),
        ('China',                      'East Asia',           'Asia',              'Elsewhere'),
        ('Hong',                       'East Asia',           'Asia',              'Elsewhere'),
        ('Japan',                      'East Asia',           'Asia',              'Elsewhere'),
        ('Taiwan',                     'East Asia',           'Asia',              'Elsewhere'),
        ('Cambodia',                   'Southeast Asia',      'Asia',              'Elsewhere'),
        ('Laos',                       'Southeast Asia',      'Asia',              'Elsewhere'),
        ('Philippines',                'Southeast Asia',      'Asia',              'Elsewhere'),
        ('Thailand',                   'Southeast Asia',      'Asia',              'Elsewhere'),
        ('Vietnam',                    'Southeast Asia',      'Asia',              'Elsewhere'),
        ('India',                      'South and West Asia', 'Asia',              'Elsewhere'),
        ('Iran',                       'South and West Asia', 'Asia',              'Elsewhere'),
        ('South',                      'Not explained',       'Region not stated', 'Elsewhere')
    ) AS h(value, region, continent, side)
);

CREATE OR REPLACE HIERARCHY adult_salary_class AS LEVELS (
    SELECT * FROM (VALUES ('<=50K'), ('>50K')) AS h(value)
);

-- UCI Adult (Becker, Kohavi 1996): the training and the test file as one table.
-- $1 is the list of the two files. In them '?' stands for a missing value, labels of the
-- test file end in a dot, its first line is a comment, and a blank follows each comma.
CREATE OR REPLACE TEMP TABLE sqlanon_dataset_adult AS
SELECT
    trim(age)::INTEGER                  AS age,
    nullif(trim(workclass), '?')        AS workclass,
    trim(fnlwgt)::INTEGER               AS fnlwgt,
    nullif(trim(education), '?')        AS education,
    trim(education_num)::INTEGER        AS education_num,
    nullif(trim(marital_status), '?')   AS marital_status,
    nullif(trim(occupation), '?')       AS occupation,
    nullif(trim(relationship), '?')     AS relationship,
    nullif(trim(race), '?')             AS race,
    nullif(trim(sex), '?')              AS sex,
    trim(capital_gain)::INTEGER         AS capital_gain,
    trim(capital_loss)::INTEGER         AS capital_loss,
    trim(hours_per_week)::INTEGER       AS hours_per_week,
    nullif(trim(native_country), '?')   AS native_country,
    rtrim(trim(salary_class), '.')      AS salary_class
FROM read_csv(
    $1,
    header = false,
    auto_detect = false,
    delim = ',',
    quote = '',
    escape = '',
    comment = '|',
    columns = {
        'age': 'VARCHAR', 'workclass': 'VARCHAR', 'fnlwgt': 'VARCHAR', 'education': 'VARCHAR',
        'education_num': 'VARCHAR', 'marital_status': 'VARCHAR', 'occupation': 'VARCHAR',
        'relationship': 'VARCHAR', 'race': 'VARCHAR', 'sex': 'VARCHAR', 'capital_gain': 'VARCHAR',
        'capital_loss': 'VARCHAR', 'hours_per_week': 'VARCHAR', 'native_country': 'VARCHAR',
        'salary_class': 'VARCHAR'
    }
)

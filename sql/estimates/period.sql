-- The periods that labels of CALENDAR show, as their first timestamp and the first timestamp after them. A star
-- represents any digit of a year, and years before 0 count backwards.
WITH part AS (
  SELECT
    label,
    shown,
    CASE WHEN shown LIKE '-%' THEN -1 ELSE 1 END AS sign,
    TRY_CAST(regexp_extract(shown, '^-?([0-9]+)', 1) AS INTEGER) AS year,
    TRY_CAST(regexp_extract(shown, '^-?[0-9]+-([0-9][0-9])', 1) AS INTEGER) AS month,
    TRY_CAST(regexp_extract(shown, '^-?[0-9]+-[0-9][0-9]-([0-9][0-9])', 1) AS INTEGER) AS day,
    TRY_CAST(regexp_extract(shown, ' ([0-9][0-9])h$', 1) AS INTEGER) AS hour,
    TRY_CAST(regexp_extract(shown, '-Q([1-4])$', 1) AS INTEGER) AS quarter,
    TRY_CAST(regexp_extract(shown, '-W([0-9][0-9])$', 1) AS INTEGER) AS week,
    CASE WHEN shown LIKE '%**' THEN 100 WHEN shown LIKE '%*' THEN 10 ELSE 1 END AS years
  FROM shown
  WHERE regexp_matches(
    shown,
    '^-?([0-9]{4,}(-Q[1-4]|-W[0-9][0-9]|-[0-9][0-9]|-[0-9][0-9]-[0-9][0-9]|-[0-9][0-9]-[0-9][0-9] [0-9][0-9]h)?|[0-9]{3,}\*|[0-9]{2,}\*\*)$'
  )
), first AS (
  SELECT
    *,
    CASE WHEN sign > 0 THEN year * years ELSE -(year * years + years - 1) END AS first_year,
    CASE WHEN sign > 0 THEN year * years + years - 1 ELSE -(year * years) END AS last_year
  FROM part
)
SELECT
  label,
  CASE
    WHEN hour IS NOT NULL THEN CAST(make_date(first_year, month, day) AS TIMESTAMP) + to_hours(hour)
    WHEN day IS NOT NULL THEN CAST(make_date(first_year, month, day) AS TIMESTAMP)
    WHEN month IS NOT NULL THEN CAST(make_date(first_year, month, 1) AS TIMESTAMP)
    WHEN quarter IS NOT NULL THEN CAST(make_date(first_year, 3 * quarter - 2, 1) AS TIMESTAMP)
    WHEN week IS NOT NULL THEN CAST(
      make_date(first_year, 1, 4) + CAST(7 * (week - 1) + 1 - isodow(make_date(first_year, 1, 4)) AS INTEGER) AS TIMESTAMP
    )
    ELSE CAST(make_date(first_year, 1, 1) AS TIMESTAMP)
  END AS low,
  CASE
    WHEN hour IS NOT NULL THEN CAST(make_date(first_year, month, day) AS TIMESTAMP) + to_hours(hour + 1)
    WHEN day IS NOT NULL THEN CAST(make_date(first_year, month, day) AS TIMESTAMP) + to_days(1)
    WHEN month IS NOT NULL THEN CAST(make_date(first_year, month, 1) AS TIMESTAMP) + to_months(1)
    WHEN quarter IS NOT NULL THEN CAST(make_date(first_year, 3 * quarter - 2, 1) AS TIMESTAMP) + to_months(3)
    WHEN week IS NOT NULL THEN CAST(
      make_date(first_year, 1, 4) + CAST(7 * week + 1 - isodow(make_date(first_year, 1, 4)) AS INTEGER) AS TIMESTAMP
    )
    ELSE CAST(make_date(last_year + 1, 1, 1) AS TIMESTAMP)
  END AS high
FROM first

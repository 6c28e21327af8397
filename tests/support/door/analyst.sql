-- Thirty queries as analysts write them, over two releases:
--   hospital(born, sex, zip, ward, disease, stay_days, cost, admitted DATE, note)
--   census(age, education, occupation, hours, income, weight)
-- A statement ends with a semicolon at the end of a line.

SELECT * FROM hospital LIMIT 20;

SELECT count(*) AS patients, count(DISTINCT zip) AS areas FROM hospital;

SELECT disease, count(*) AS n, round(100 * count(*) / sum(count(*)) OVER (), 1) AS percent
FROM hospital GROUP BY disease ORDER BY n DESC, disease;

SELECT sex, disease, avg(stay_days) AS mean_stay, median(stay_days) AS median_stay,
       quantile_cont(cost, [0.25, 0.5, 0.75]) AS quartiles
FROM hospital WHERE stay_days IS NOT NULL GROUP BY ALL HAVING count(*) >= 5 ORDER BY ALL;

WITH monthly AS (
    SELECT date_trunc('month', admitted) AS month, ward, count(*) AS n FROM hospital GROUP BY ALL
)
SELECT month, ward, n, n - lag(n) OVER (PARTITION BY ward ORDER BY month) AS change,
       avg(n) OVER (PARTITION BY ward ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smoothed
FROM monthly ORDER BY ward, month;

SELECT education, income, count(*) AS n FROM census GROUP BY ROLLUP (education, income) ORDER BY ALL NULLS FIRST;

SELECT CASE WHEN hours < 20 THEN 'part time' WHEN hours <= 40 THEN 'full time' ELSE 'more' END AS working,
       sum(weight) AS people
FROM census GROUP BY working ORDER BY people DESC;

SELECT corr(cost, stay_days) AS r, regr_slope(cost, stay_days) AS a_day, regr_intercept(cost, stay_days) AS at_once
FROM hospital;

PIVOT hospital ON sex USING count(*) GROUP BY disease ORDER BY disease;

SELECT * FROM (SELECT ward, disease FROM hospital) PIVOT (count(*) FOR ward IN ('A', 'B', 'C'));

SUMMARIZE hospital;

DESCRIBE census;

SHOW TABLES;

SELECT zip, disease, count(*) AS n FROM hospital
GROUP BY zip, disease QUALIFY row_number() OVER (PARTITION BY zip ORDER BY count(*) DESC, disease) = 1;

SELECT left(zip, 3) AS region, string_agg(DISTINCT disease, ', ' ORDER BY disease) AS diseases
FROM hospital WHERE disease ILIKE '%ulcer%' OR regexp_matches(disease, '^(flu|cold)', 'i') GROUP BY region;

SELECT h.ward, h.n, t.total, h.n / t.total AS share
FROM (SELECT ward, count(*) AS n FROM hospital GROUP BY ward) AS h CROSS JOIN (SELECT count(*) AS total FROM hospital) AS t
ORDER BY share DESC;

SELECT extract(year FROM admitted) AS year, extract(isodow FROM admitted) AS day, count(*) FILTER (WHERE stay_days > 7) AS long
FROM hospital GROUP BY 1, 2 ORDER BY 1, 2;

SELECT m.month, coalesce(count(h.disease), 0) AS n
FROM range(DATE '2025-01-01', DATE '2026-01-01', INTERVAL 1 MONTH) AS m(month)
LEFT JOIN hospital AS h ON date_trunc('month', h.admitted) = m.month GROUP BY m.month ORDER BY m.month;

SELECT width, count(*) AS n
FROM (SELECT floor(age / 10) * 10 AS width FROM census) GROUP BY width ORDER BY width;

SELECT histogram(stay_days) FROM hospital;

SELECT occupation, avg(hours) AS hours FROM census
WHERE occupation IN (SELECT occupation FROM census GROUP BY occupation ORDER BY count(*) DESC LIMIT 5)
GROUP BY occupation UNION ALL SELECT 'all', avg(hours) FROM census ORDER BY hours DESC;

SELECT ward, max_by(disease, cost) AS dearest, max(cost) AS cost FROM hospital GROUP BY ward;

SELECT education, unnest(['mean', 'sd']) AS figure, unnest([avg(hours), stddev_samp(hours)]) AS value
FROM census GROUP BY education ORDER BY education;

SELECT printf('%s (%d)', disease, count(*)) AS label, bar(count(*), 0, 100, 30) AS bar
FROM hospital GROUP BY disease ORDER BY count(*) DESC LIMIT 10;

UNPIVOT (SELECT ward, avg(cost) AS cost, avg(stay_days) AS stay FROM hospital GROUP BY ward)
ON cost, stay INTO NAME figure VALUE mean;

SELECT admitted AT TIME ZONE 'UTC' AS moment, now() - admitted::TIMESTAMP AT TIME ZONE 'UTC' AS since
FROM hospital WHERE admitted >= current_date - INTERVAL 2 YEAR ORDER BY moment DESC LIMIT 5;

WITH RECURSIVE bins(low) AS (SELECT 0 UNION ALL SELECT low + 1000 FROM bins WHERE low < 9000)
SELECT low, count(cost) AS n FROM bins LEFT JOIN hospital ON cost >= low AND cost < low + 1000 GROUP BY low ORDER BY low;

SELECT disease, note.trim().lower() AS note FROM hospital WHERE note IS NOT NULL USING SAMPLE 10 ROWS;

SELECT COLUMNS(* EXCLUDE (weight)) FROM census WHERE age BETWEEN ? AND ? AND occupation = ANY (['Sales', 'Craft']);

SELECT count(*) AS n, sum(c.weight) AS people FROM census AS c
WHERE EXISTS (SELECT 1 FROM census AS d WHERE d.occupation = c.occupation AND d.income = '>50K' AND d.age < c.age);

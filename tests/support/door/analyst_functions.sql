-- Thirty more queries over the releases of analyst.sql, one or two for each part of DuckDB's SQL that analysts use:
-- joins by time and position, frames of windows, grouping sets, pivots, lists, structs, maps, JSON, texts, dates,
-- samples, quantiles, macros of lists, lateral joins and recursion.
-- A statement ends with a semicolon at the end of a line.

SELECT h.disease, h.admitted, b.admitted AS before
FROM hospital AS h ASOF LEFT JOIN hospital AS b ON h.ward = b.ward AND h.admitted > b.admitted ORDER BY ALL LIMIT 20;

SELECT ward, sex, disease, grouping(ward, sex, disease) AS level, count(*) AS n
FROM hospital GROUP BY GROUPING SETS ((ward, sex), (ward, disease), (disease), ()) ORDER BY ALL;

SELECT ward, sex, count(*) AS n, grouping_id(ward, sex) AS level FROM hospital GROUP BY CUBE (ward, sex) ORDER BY ALL;

SELECT ward, date_trunc('quarter', admitted) AS quarter, sum(cost) AS cost,
       sum(sum(cost)) OVER (PARTITION BY ward ORDER BY date_trunc('quarter', admitted)) AS so_far,
       rank() OVER w AS place, ntile(4) OVER w AS quarter_of_costs, percent_rank() OVER w AS share
FROM hospital GROUP BY ward, date_trunc('quarter', admitted) WINDOW w AS (PARTITION BY ward ORDER BY sum(cost) DESC) ORDER BY ALL;

SELECT admitted, cost,
       avg(cost) OVER (ORDER BY admitted RANGE BETWEEN INTERVAL 30 DAYS PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS month,
       first_value(disease IGNORE NULLS) OVER (PARTITION BY ward ORDER BY admitted GROUPS 2 PRECEDING) AS first
FROM hospital ORDER BY ALL LIMIT 50;

SELECT * FROM hospital QUALIFY dense_rank() OVER (PARTITION BY ward ORDER BY cost DESC NULLS LAST) <= 3
    AND count(*) OVER (PARTITION BY ward) >= 5 ORDER BY ward, cost DESC;

SELECT DISTINCT ON (ward) ward, disease, cost FROM hospital ORDER BY ward, cost DESC;

PIVOT (SELECT ward, year(admitted) AS year, cost FROM hospital)
ON year IN (2025, 2026) USING avg(cost) AS mean, count(*) AS n GROUP BY ward;

WITH yearly AS (SELECT ward, disease, count(*) AS n FROM hospital GROUP BY ALL)
FROM yearly PIVOT (sum(n) FOR disease IN ('flu', 'cold', 'ulcer') GROUP BY ward) ORDER BY ward;

SELECT ward, list(DISTINCT disease ORDER BY disease) AS diseases, list_filter(list(cost), lambda c: c > 1000) AS dear,
       list_transform(list_sort(list(stay_days)), lambda d, i: d * i) AS weighted, list_reduce(list(stay_days), lambda a, b: a + b) AS days
FROM hospital GROUP BY ward ORDER BY ward;

SELECT ward, [upper(d) FOR d IN list(disease) IF d IS NOT NULL] AS names, list(disease)[1:2] AS two, len(list(disease)) AS n
FROM hospital GROUP BY ward ORDER BY ward;

SELECT h.ward, d.word, count(*) AS n
FROM hospital AS h, LATERAL (SELECT unnest(string_split(lower(h.note), ' ')) AS word) AS d
WHERE length(d.word) > 3 GROUP BY ALL ORDER BY n DESC, h.ward, d.word LIMIT 10;

SELECT w.ward, top.disease, top.cost
FROM (SELECT DISTINCT ward FROM hospital) AS w
CROSS JOIN LATERAL (SELECT disease, cost FROM hospital AS h WHERE h.ward = w.ward ORDER BY cost DESC LIMIT 2) AS top
ORDER BY ALL;

SELECT * FROM hospital TABLESAMPLE reservoir(50 ROWS) REPEATABLE (42);

SELECT avg(hours), stddev(hours) FROM (FROM census USING SAMPLE 20 PERCENT (bernoulli, 7));

SUMMARIZE SELECT cost, stay_days, admitted FROM hospital WHERE ward = 'A';

SELECT column_name, null_percentage, approx_unique FROM (SUMMARIZE census) WHERE column_type IN ('INTEGER', 'BIGINT', 'DOUBLE');

SELECT time_bucket(INTERVAL 2 WEEKS, admitted) AS fortnight, dayname(any_value(admitted)) AS day,
       date_diff('day', min(admitted), max(admitted)) AS days, strftime(max(admitted), '%d.%m.%Y') AS last
FROM hospital WHERE admitted BETWEEN DATE '2025-01-01' AND last_day(DATE '2025-12-01') GROUP BY ALL ORDER BY ALL;

SELECT {'ward': ward, 'n': count(*)} AS entry, struct_pack(mean := avg(cost), days := sum(stay_days)).mean AS mean
FROM hospital GROUP BY ward ORDER BY ward;

SELECT map_entries(histogram(disease)) AS entries, map_keys(histogram(ward)) AS wards, map([1, 2], ['one', 'two'])[1] AS one
FROM hospital;

SELECT to_json({'ward': ward, 'costs': list(cost ORDER BY cost)}) AS document, json_extract_string('{"a": [1, 2]}', '$.a[0]') AS a
FROM hospital GROUP BY ward ORDER BY ward;

SELECT approx_quantile(cost, 0.9) AS p90, mad(cost) AS spread, mode(disease) AS usual, entropy(disease) AS bits,
       skewness(cost) AS skew, kurtosis(cost) AS tails, approx_count_distinct(zip) AS areas, arg_max(disease, cost, 3) AS dearest
FROM hospital;

SELECT occupation, sum(weight * hours) / sum(weight) AS hours, count(*) FILTER (income = '>50K') / count(*) AS share
FROM census GROUP BY occupation HAVING count(*) > 10 ORDER BY share DESC NULLS LAST LIMIT 10 OFFSET 2;

SELECT * EXCLUDE (note) REPLACE (round(cost, -2) AS cost) RENAME (zip AS area), COLUMNS('^stay.*') + 1 AS '\0_more' FROM hospital;

SELECT h.* FROM hospital AS h SEMI JOIN census AS c ON year(current_date) - h.born = c.age ORDER BY ALL LIMIT 5;

SELECT a.ward, a.n AS men, b.n AS women
FROM (SELECT ward, count(*) AS n FROM hospital WHERE sex = 'M' GROUP BY ward) AS a
FULL JOIN (SELECT ward, count(*) AS n FROM hospital WHERE sex = 'F' GROUP BY ward) AS b USING (ward)
WHERE a.ward IS NOT DISTINCT FROM b.ward ORDER BY ALL;

SELECT regexp_extract(note, '(\w+) (\w+)', ['first', 'second']).first AS word, regexp_replace(zip, '\d{2}$', '**') AS area,
       format('{:.1f} of {}', avg(cost), count(*)) AS text, levenshtein(min(disease), max(disease)) AS distance
FROM hospital GROUP BY ALL ORDER BY ALL;

(SELECT disease FROM hospital WHERE ward = 'A' INTERSECT SELECT disease FROM hospital WHERE ward = 'B')
EXCEPT SELECT disease FROM hospital WHERE disease LIKE 'f%' ORDER BY disease;

WITH RECURSIVE steps AS (
    SELECT min(admitted) AS day, 0 AS n FROM hospital UNION ALL SELECT day + 7, n + 1 FROM steps WHERE n < 51
), weeks AS MATERIALIZED (SELECT day::DATE AS day, n FROM steps)
SELECT w.n, count(h.disease) AS admissions, TRY_CAST(max(h.zip) AS INTEGER) AS zip
FROM weeks AS w LEFT JOIN hospital AS h ON h.admitted >= w.day AND h.admitted < w.day + INTERVAL 7 DAYS
GROUP BY w.n ORDER BY w.n;

SELECT education, count(*) AS n FROM (VALUES ('Bachelors', 1), ('Masters', 2)) AS levels(education, level)
POSITIONAL JOIN range(2) AS r(number) NATURAL JOIN census GROUP BY ALL ORDER BY education COLLATE NOCASE;

-- The class of each respondent in the latest release of a series that the respondent is in. known has the respondents, as the
-- ledger's texts, with their tokens.
-- parameter: $1 the series
SELECT k.value AS respondent, max(m.position) AS position, arg_max(m.class_no, m.position) AS class_no
FROM known AS k
JOIN anon.series_member AS m ON m.respondent = CAST(k.token AS UUID)
WHERE m.series_id = $1
GROUP BY k.value

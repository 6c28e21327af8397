-- The confidence in the likeliest value of a respondent of each set: set_no, confidence. Of the rows with the value,
-- all but the set's rows of nobody belong to its respondents.
SELECT set_no, max(confidence) AS confidence
FROM (
  SELECT v.set_no, round(CAST(sum(v.n) - max(s.nobody) AS DOUBLE) / max(s.people), 12) AS confidence
  FROM set_value AS v
  JOIN known_set AS s ON s.set_no = v.set_no
  GROUP BY v.set_no, v.shown
) AS of_value
GROUP BY set_no

-- The confidence in the value of respondents by differences of sets, if it is greater than by the set itself:
-- respondent, confidence. Differences that contradict unchanged values are left out.
SELECT m.respondent, max(d.confidence) AS confidence
FROM (
  SELECT whole, part, round(CAST(max(more) - max(nobody) AS DOUBLE) / max(people), 12) AS confidence
  FROM difference
  WHERE people > 0 AND total - nobody <= people
  GROUP BY whole, part
) AS d
JOIN set_belief AS b ON b.set_no = d.whole AND b.confidence < d.confidence
JOIN set_member AS m ON m.set_no = d.whole
LEFT JOIN set_member AS p ON p.set_no = d.part AND p.respondent = m.respondent
WHERE p.respondent IS NULL
GROUP BY m.respondent

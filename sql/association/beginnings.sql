-- The rows of each divided value by the beginning of their random texts: value, beginning, n.
SELECT start.value, $beginning AS beginning, count(*) AS n
FROM keyed
JOIN starts AS start ON start.value = {keyed.key} AND start.divided
GROUP BY start.value, $beginning

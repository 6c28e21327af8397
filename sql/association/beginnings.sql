-- How many rows of each value that is divided have random texts that begin alike: value, beginning, n.
SELECT start.value, $beginning AS beginning, count(*) AS n
FROM keyed
JOIN starts AS start ON start.value = {keyed.key} AND start.divided
GROUP BY start.value, $beginning

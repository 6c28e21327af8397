-- Each row of `numbered`, with its slot, the number of its bucket from 0 in the chosen trial.
--
-- numbered: value, rank; value_start: value, trial, buckets, spread, first, behind, as value_start.sql returns them;
-- chosen_trial: trial. With 3 buckets, the rows numbered 0, 1, 2 and 3 are in the slots 0, 1, 2 and 0.
SELECT (CASE WHEN row.rank < start.spread THEN start.first + row.rank
  ELSE start.behind + row.rank - start.spread END) % start.buckets AS slot, row.*
FROM numbered AS row
JOIN value_start AS start ON row.value IS NOT DISTINCT FROM start.value
JOIN chosen_trial AS chosen ON start.trial = chosen.trial

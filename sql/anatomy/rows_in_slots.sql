-- Each row with its slot, the number of its region's group: slot, {columns}.
--
-- row: region, code_0 and {columns}; $rank is the number of a row, from 0, among the rows with its region and value.
-- starts: region, code, spread, groups, base, first, behind, as starts.sql returns them. With 3 groups behind 10 other
-- groups, and rows of a value that are numbered from 4, the rows 0, 1 and 2 have the slots 11, 12 and 10.
SELECT start.base + (CASE WHEN $rank < start.spread THEN start.first + ($rank)
  ELSE start.behind + ($rank) - start.spread END) % start.groups AS slot, {row.columns}
FROM rows AS row
JOIN starts AS start ON row.region = start.region AND row.code_0 = start.code

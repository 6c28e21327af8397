-- The slots; if a region of a block violates, all slots of the block become one new region: slot, region, is_new.
--
-- slots: slot, region; violating: region. A block of level $level consists of two blocks of the level before: slots whose
-- numbers differ in the last $level bits only. With level 1 and a violating region 5, the slots 4 and 5 are region 4.
SELECT slot.slot, CASE WHEN hit.block IS NULL THEN slot.region ELSE (slot.slot >> $level) << $level END AS region,
  NOT hit.block IS NULL AS is_new
FROM slots AS slot
LEFT JOIN (
  SELECT DISTINCT (slot.region >> $level) AS block
  FROM slots AS slot
  JOIN violating ON slot.region = violating.region
) AS hit ON (slot.slot >> $level) = hit.block

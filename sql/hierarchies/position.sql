-- The position of a value: the number $known, or its rank if numbers of this column have no distance.
--
-- NULL comes after the greatest number, at the mean distance of neighbors. Infinities and NaN have no distance from other
-- values, and after the greatest number NULL would be infinite. An infinite date or time has no number, hence no position.
CASE
  WHEN coalesce(isfinite((max($known) OVER () + $gap) - min($known) OVER ()), true)
    AND coalesce(bool_and(isfinite($known)) OVER (), true)
    AND count($known) OVER () = count(value) OVER ()
  THEN coalesce($known, max($known) OVER () + $gap, 0::DOUBLE)
  ELSE rank::DOUBLE
END

-- The readings of labels of ranges whose ends are values, with the points of the axis: "[3, 5]" is from 3 to 5.
--
-- range: the rows of range.sql. A text may itself hold brackets and commas, and end in "or NULL", so a label may have
-- several readings. `meant` says whether a reading is what its label means, NULL if it is merely possible. A label with
-- one reading is certain. A label with two, the value "x or NULL" and the value x or NULL, is assumed to mean the
-- latter, as in a hierarchy that lists the values. The order of the ends is not known in $any_order.
WITH fitting AS (
  SELECT label, low AS low_text, high AS high_text, point_down(low) AS low, point_down(high) AS high, with_null
  FROM range
), numbered AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY label) AS ways,
    count_if(low = high) OVER (PARTITION BY label) AS values
  FROM fitting
  WHERE low IS NOT NULL AND high IS NOT NULL AND ($any_order OR low <= high)
)
SELECT
  label, low, high, low_text, high_text,
  CASE
    WHEN ways = 2 AND values = 2 THEN CASE WHEN with_null THEN true ELSE CAST(NULL AS BOOLEAN) END
    ELSE low = high AND ways = 1
  END AS meant
FROM numbered

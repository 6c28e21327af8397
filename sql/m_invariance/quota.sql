-- Of each value how many newcomers fill holes, how many rest, and how many counterfeits join these; nobody could do with fewer.
--
-- At least newcomers - holes of a value rest (lower). Where most is the greatest of these numbers, the rest is m-eligible if it
-- has m * most rows, of no value more than most. So at first all newcomers fill holes who can. If fewer rest than
-- that, as many as are lacking rest, too, whose holes get counterfeits; and where there are none, counterfeits join the rest.
-- Which values these are is drawn.
WITH bound AS (
  SELECT code, draw, newcomers, greatest(newcomers - holes, 0) AS lower FROM demand
), rested AS (
  SELECT code, draw, newcomers, lower,
    max(lower) OVER () AS most,
    greatest($m * max(lower) OVER () - sum(lower) OVER (), 0) AS lacking
  FROM bound
), room AS (
  SELECT *, least(newcomers, most) - lower AS room FROM rested
), more AS (
  SELECT *,
    least(room, greatest(
      lacking - sum(room) OVER (ORDER BY draw ASC NULLS LAST, code ASC NULLS LAST ROWS UNBOUNDED PRECEDING) + room, 0
    )) AS more
  FROM room
), padded AS (
  SELECT code, draw, newcomers, lower + more AS rest, most - lower - more AS padding_room,
    lacking - sum(more) OVER () AS padding
  FROM more
)
SELECT code, draw,
  CAST(newcomers - rest AS BIGINT) AS fillers,
  CAST(rest AS BIGINT) AS rest,
  CAST(least(padding_room, greatest(
    padding - sum(padding_room) OVER (ORDER BY draw ASC NULLS LAST, code ASC NULLS LAST ROWS UNBOUNDED PRECEDING)
      + padding_room, 0
  )) AS BIGINT) AS counterfeits,
  CAST(padding - sum(padding_room) OVER () AS BIGINT) AS impossible
FROM padded

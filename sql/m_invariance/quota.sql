-- The newcomers of each value that fill holes, the newcomers that remain, and the counterfeits that join the remaining
-- ones: code, draw, fillers, rest, counterfeits, impossible. No division needs fewer counterfeits.
--
-- At least newcomers - holes of a value remain (lower). If `most` is the greatest of these numbers, the remaining
-- newcomers are m-eligible if they are at least m * most rows and no value has more than `most`. So at first all
-- newcomers who can fill holes do. If fewer newcomers remain than m-eligibility needs, as many more remain as are
-- lacking, and their holes get counterfeits; if there are no more newcomers, counterfeits join the remaining ones.
-- Their values are chosen at random.
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

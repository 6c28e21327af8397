-- The number of batches of a stream, the numbers of its rows that were read, released, reused and withheld in all
-- batches, and the number of rows that wait after the last batch. parameter: $1 the stream
SELECT count(*) AS batches, coalesce(sum(read_rows), 0)::BIGINT AS read_rows,
  coalesce(sum(released_rows), 0)::BIGINT AS released_rows, coalesce(sum(reused_rows), 0)::BIGINT AS reused_rows, coalesce(sum(withheld_rows), 0)::BIGINT AS withheld_rows,
  coalesce(arg_max(waiting_rows, batch), 0)::BIGINT AS waiting_rows
FROM anon.stream_batch
WHERE stream_id = $1

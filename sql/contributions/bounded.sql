-- At most $most rows of each respondent e, chosen by a keyed hash of the values of this respondent's rows alone:
-- {columns}.
--
-- given: the {columns}, which are e, the {values} and others. Rows that agree in all values may be chosen in any order.
-- Only rows of respondents with more than $most rows get a hash and a rank, which take longer than counting. Of 5 rows
-- of a respondent, $most = 2 keeps the two with the smallest hashes.
SELECT *
FROM (
  WITH all_rows AS MATERIALIZED (SELECT * FROM given), crowded AS MATERIALIZED (
    SELECT e FROM all_rows GROUP BY e HAVING count(*) > $most
  )
  SELECT {all_rows.columns} FROM all_rows ANTI JOIN crowded ON all_rows.e = crowded.e
  UNION ALL
  SELECT {columns}
  FROM (
    SELECT {all_rows.columns}, row_number() OVER (PARTITION BY all_rows.e ORDER BY
      sha256(concat_ws('|', $salt, CAST(all_rows.e AS VARCHAR), CAST({all_rows.values} AS VARCHAR))) ASC NULLS LAST,
      {all_rows.values} ASC NULLS LAST) AS r
    FROM all_rows
    SEMI JOIN crowded ON all_rows.e = crowded.e
  ) AS row
  WHERE r <= $most
) AS row

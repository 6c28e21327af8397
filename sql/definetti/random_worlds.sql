-- Before anything is learned, each value of a bucket is as likely for each of its rows as it is frequent.
SELECT row_id, code, CAST(n AS DOUBLE) / CAST(size AS DOUBLE) AS weight FROM pair

-- Each row and counterfeit with its value and the number of its bucket: row_no (NULL for a counterfeit), code, bucket.
SELECT p.row_no, p.code, b.bucket
FROM placed AS p
JOIN bucket AS b ON b.signature = p.signature AND b.place = p.place

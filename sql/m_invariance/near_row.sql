-- The rows and counterfeits of the classes of each set of values.
SELECT p.row_no, p.signature, p.code, s.region
FROM placed AS p
JOIN value_set AS s ON s.signature = p.signature AND s.place = p.place

-- The rows and counterfeits of all classes, by region: row_no, signature, code, region. Classes with the same set of
-- values are one region.
SELECT p.row_no, p.signature, p.code, s.region
FROM placed AS p
JOIN value_set AS s ON s.signature = p.signature AND s.place = p.place

-- The codes of the values of each signature: signature, code.
SELECT s.signature, c.code
FROM signature_value AS s
JOIN value_code AS c ON c.value IS NOT DISTINCT FROM s.value

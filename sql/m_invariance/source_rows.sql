-- The rows of the source with the signature that they keep: row_no, code, signature, changed, $others, {respondent}.
--
-- source: the rows, with the value $value and the respondent {entity}; coded: value, code; former: entity and
-- signature, as the series has them; known: signature and the code of each of its values. A former signature that lacks
-- the respondent's present value is NULL, because the value has changed.
SELECT row_number() OVER () AS row_no, coded.code AS code, known.signature AS signature,
  former.signature IS NOT NULL AND known.signature IS NULL AS changed, $others, {source.entity} AS "{respondent}"
FROM source
JOIN coded ON $value IS NOT DISTINCT FROM coded.value
LEFT JOIN former ON {source.entity} = former.entity
LEFT JOIN known ON former.signature = known.signature AND coded.code = known.code

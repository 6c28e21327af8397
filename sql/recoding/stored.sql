-- Each value with its label, from the catalog's copy for the release $release, and whether the copy lists it: value,
-- label, listed.
--
-- occurring: value; anon.release_recoding: release_id, attribute, value, label. $value is the type's value of a listed
-- text. A value that is listed twice has one row, because it must not double its rows. A value that is not listed is
-- kept with listed NULL: an inner join would be estimated to have no rows, and the release would be joined in the wrong
-- order.
SELECT occurring.value, $shown AS label, copied.listed
FROM occurring
LEFT JOIN (
  SELECT $value AS value, max($label) AS label, TRUE AS listed
  FROM anon.release_recoding
  WHERE release_id = $release AND attribute = $attribute AND (value IS NULL OR NOT $value IS NULL)
  GROUP BY $value
) AS copied ON occurring.value IS NOT DISTINCT FROM copied.value

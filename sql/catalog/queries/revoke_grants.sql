-- Revokes the existing grants of a reader: all of them, or those on the release with a schema and a name in lower case.
UPDATE anon.reader_grant
SET revoked_at = make_timestamp(epoch_us(current_timestamp))
WHERE reader_id = $1
  AND revoked_at IS NULL
  AND ($2 IS NULL OR translate(schema_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $2)
  AND ($3 IS NULL OR translate(object_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $3)
RETURNING 1

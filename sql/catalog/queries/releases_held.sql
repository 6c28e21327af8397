-- The ids of all releases that readers of a name, in lower case, were ever granted. This includes revoked grants and
-- grants of dropped readers, because what was read cannot be taken back.
SELECT DISTINCT grants.release_id
FROM anon.reader AS reader
JOIN anon.reader_grant AS grants ON grants.reader_id = reader.reader_id
WHERE translate(reader.reader, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?

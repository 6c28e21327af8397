-- The tables of releases with values of the source's rows, which excludes releases with noise, and the release's
-- sources.
SELECT made.schema_name, made.object_name, release.sources
FROM anon.release AS release
JOIN anon.release_object AS made ON made.release_id = release.release_id
WHERE release.source_rows IS NOT NULL

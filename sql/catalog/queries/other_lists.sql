-- The lists of a release whose texts differ from those of the list of the same name under the same key in other
-- releases, the latest release first. Without a key no two releases have the same masks. parameter: $1 the release's
-- identifier
SELECT mine.list_name, mine.key_variable, r.schema_name, r.object_name
FROM anon.release_choice AS mine
    JOIN anon.release_choice AS other
        ON other.key_variable = mine.key_variable
            AND lower(other.list_name) = lower(mine.list_name)
            AND other.digest <> mine.digest
    JOIN anon.release AS r ON r.release_id = other.release_id
WHERE mine.release_id = $1
ORDER BY r.created_at DESC NULLS LAST, r.schema_name ASC NULLS LAST, r.object_name ASC NULLS LAST

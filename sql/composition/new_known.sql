-- The known sets and the new sets together: set_no, release, class, family, members_key, people, nobody.
SELECT set_no, release, class, family, members_key, people, nobody FROM known_set
UNION ALL
SELECT set_no, NULL AS release, NULL AS class, family, members_key, people, nobody FROM new_set

-- An overflow is an error, and no wrong number.
SET spark.sql.ansi.enabled = true;

-- A session that reads backslashes in texts in another way ends here.
SELECT assert_true(length('\\') = 1, 'set spark.sql.parser.escapedStringLiterals to false');

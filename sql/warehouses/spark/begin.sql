-- An overflow is an error, not a wrong number.
SET spark.sql.ansi.enabled = true;

-- The script ends here in a session that reads backslashes in texts differently.
SELECT assert_true(length('\\') = 1, 'set spark.sql.parser.escapedStringLiterals to false');

DO $sqlanon$
BEGIN
  IF EXISTS (SELECT 1 FROM "sqlanon_source_column" WHERE NOT "fits") THEN
    RAISE EXCEPTION 'the source lacks a column of the release, or has another type where the release has a text: %',
      (SELECT string_agg("name", ', ') FROM "sqlanon_source_column" WHERE NOT "fits");
  END IF;
END
$sqlanon$;

DO $sqlanon$
BEGIN
  IF EXISTS (SELECT 1 FROM "sqlanon_check_violation")
    OR (SELECT count(*) FROM "sqlanon_check_row") <> (SELECT count(*) FROM "sqlanon_candidate") THEN
    RAISE EXCEPTION 'the rows do not satisfy the requirements: nothing is published';
  END IF;
END
$sqlanon$;

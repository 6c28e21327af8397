EXECUTE IMMEDIATE $$
DECLARE
  violated EXCEPTION (-20001, 'the rows do not satisfy the requirements: nothing is published');
BEGIN
  IF (EXISTS (SELECT 1 FROM "sqlanon_check_violation")
    OR (SELECT count(*) FROM "sqlanon_check_row") <> (SELECT count(*) FROM "sqlanon_candidate")) THEN
    RAISE violated;
  END IF;
END;
$$;

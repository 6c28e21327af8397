SELECT assert_true(
  (SELECT count(*) FROM `sqlanon_check_violation`) = 0
    AND (SELECT count(*) FROM `sqlanon_check_row`) = (SELECT count(*) FROM `sqlanon_candidate`),
  'the rows do not satisfy the requirements: nothing is published'
);

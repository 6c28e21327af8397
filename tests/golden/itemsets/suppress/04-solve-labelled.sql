-- Look for: an item that is suppressed leaves all lists. Materializing reads this table, so that no list shows it.

DELETE FROM "__sqlanon_labelled_1" WHERE "code" IN (SELECT "code" FROM "__sqlanon_suppressed_1");

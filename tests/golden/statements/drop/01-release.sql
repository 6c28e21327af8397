-- Look for: the release's own object by its full name, without CASCADE and without IF EXISTS.

DROP TABLE "memory"."main"."hospital_release";

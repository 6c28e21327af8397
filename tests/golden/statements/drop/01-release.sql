-- Look for:

DROP TABLE "memory"."main"."hospital_release";

-- Look for: a value's place on its axis in 2^20 steps by how many rows lie before it, its bits spread so that those of
-- three columns interleave: one number whose order is a Z-order curve.

CREATE TEMPORARY TABLE "__sqlanon_spread_1" AS
SELECT
  "value",
  (
    (
      "step" // 1
    ) % 2
  ) * 1 + (
    (
      "step" // 2
    ) % 2
  ) * 8 + (
    (
      "step" // 4
    ) % 2
  ) * 64 + (
    (
      "step" // 8
    ) % 2
  ) * 512 + (
    (
      "step" // 16
    ) % 2
  ) * 4096 + (
    (
      "step" // 32
    ) % 2
  ) * 32768 + (
    (
      "step" // 64
    ) % 2
  ) * 262144 + (
    (
      "step" // 128
    ) % 2
  ) * 2097152 + (
    (
      "step" // 256
    ) % 2
  ) * 16777216 + (
    (
      "step" // 512
    ) % 2
  ) * 134217728 + (
    (
      "step" // 1024
    ) % 2
  ) * 1073741824 + (
    (
      "step" // 2048
    ) % 2
  ) * 8589934592 + (
    (
      "step" // 4096
    ) % 2
  ) * 68719476736 + (
    (
      "step" // 8192
    ) % 2
  ) * 549755813888 + (
    (
      "step" // 16384
    ) % 2
  ) * 4398046511104 + (
    (
      "step" // 32768
    ) % 2
  ) * 35184372088832 + (
    (
      "step" // 65536
    ) % 2
  ) * 281474976710656 + (
    (
      "step" // 131072
    ) % 2
  ) * 2251799813685248 + (
    (
      "step" // 262144
    ) % 2
  ) * 18014398509481984 + (
    (
      "step" // 524288
    ) % 2
  ) * 144115188075855872 AS "bits"
FROM (
  SELECT
    "value",
    (
      (
        CAST(SUM("n") OVER (ORDER BY "value" ASC NULLS LAST) AS BIGINT) - "n"
      ) * 1048576
    ) // CAST(SUM("n") OVER () AS BIGINT) AS "step"
  FROM (
    SELECT
      "near_0" AS "value",
      COUNT(*) AS "n"
    FROM (
      SELECT
        "source"."rowid" AS "row",
        "source"."dob" AS "value_0",
        "source"."sex" AS "value_1",
        "source"."zip" AS "value_2",
        "source"."disease" AS "value_3",
        "source"."dob" AS "near_0",
        "source"."sex" AS "near_1",
        "source"."zip" AS "near_2"
      FROM "memory"."main"."patients" AS "source"
    ) AS "rows"
    GROUP BY
      "near_0"
  ) AS "counted"
) AS "stepped";

CREATE TEMPORARY TABLE "__sqlanon_spread_2" AS
SELECT
  "value",
  (
    (
      "step" // 1
    ) % 2
  ) * 2 + (
    (
      "step" // 2
    ) % 2
  ) * 16 + (
    (
      "step" // 4
    ) % 2
  ) * 128 + (
    (
      "step" // 8
    ) % 2
  ) * 1024 + (
    (
      "step" // 16
    ) % 2
  ) * 8192 + (
    (
      "step" // 32
    ) % 2
  ) * 65536 + (
    (
      "step" // 64
    ) % 2
  ) * 524288 + (
    (
      "step" // 128
    ) % 2
  ) * 4194304 + (
    (
      "step" // 256
    ) % 2
  ) * 33554432 + (
    (
      "step" // 512
    ) % 2
  ) * 268435456 + (
    (
      "step" // 1024
    ) % 2
  ) * 2147483648 + (
    (
      "step" // 2048
    ) % 2
  ) * 17179869184 + (
    (
      "step" // 4096
    ) % 2
  ) * 137438953472 + (
    (
      "step" // 8192
    ) % 2
  ) * 1099511627776 + (
    (
      "step" // 16384
    ) % 2
  ) * 8796093022208 + (
    (
      "step" // 32768
    ) % 2
  ) * 70368744177664 + (
    (
      "step" // 65536
    ) % 2
  ) * 562949953421312 + (
    (
      "step" // 131072
    ) % 2
  ) * 4503599627370496 + (
    (
      "step" // 262144
    ) % 2
  ) * 36028797018963968 + (
    (
      "step" // 524288
    ) % 2
  ) * 288230376151711744 AS "bits"
FROM (
  SELECT
    "value",
    (
      (
        CAST(SUM("n") OVER (ORDER BY "value" ASC NULLS LAST) AS BIGINT) - "n"
      ) * 1048576
    ) // CAST(SUM("n") OVER () AS BIGINT) AS "step"
  FROM (
    SELECT
      "near_1" AS "value",
      COUNT(*) AS "n"
    FROM (
      SELECT
        "source"."rowid" AS "row",
        "source"."dob" AS "value_0",
        "source"."sex" AS "value_1",
        "source"."zip" AS "value_2",
        "source"."disease" AS "value_3",
        "source"."dob" AS "near_0",
        "source"."sex" AS "near_1",
        "source"."zip" AS "near_2"
      FROM "memory"."main"."patients" AS "source"
    ) AS "rows"
    GROUP BY
      "near_1"
  ) AS "counted"
) AS "stepped";

CREATE TEMPORARY TABLE "__sqlanon_spread_3" AS
SELECT
  "value",
  (
    (
      "step" // 1
    ) % 2
  ) * 4 + (
    (
      "step" // 2
    ) % 2
  ) * 32 + (
    (
      "step" // 4
    ) % 2
  ) * 256 + (
    (
      "step" // 8
    ) % 2
  ) * 2048 + (
    (
      "step" // 16
    ) % 2
  ) * 16384 + (
    (
      "step" // 32
    ) % 2
  ) * 131072 + (
    (
      "step" // 64
    ) % 2
  ) * 1048576 + (
    (
      "step" // 128
    ) % 2
  ) * 8388608 + (
    (
      "step" // 256
    ) % 2
  ) * 67108864 + (
    (
      "step" // 512
    ) % 2
  ) * 536870912 + (
    (
      "step" // 1024
    ) % 2
  ) * 4294967296 + (
    (
      "step" // 2048
    ) % 2
  ) * 34359738368 + (
    (
      "step" // 4096
    ) % 2
  ) * 274877906944 + (
    (
      "step" // 8192
    ) % 2
  ) * 2199023255552 + (
    (
      "step" // 16384
    ) % 2
  ) * 17592186044416 + (
    (
      "step" // 32768
    ) % 2
  ) * 140737488355328 + (
    (
      "step" // 65536
    ) % 2
  ) * 1125899906842624 + (
    (
      "step" // 131072
    ) % 2
  ) * 9007199254740992 + (
    (
      "step" // 262144
    ) % 2
  ) * 72057594037927936 + (
    (
      "step" // 524288
    ) % 2
  ) * 576460752303423488 AS "bits"
FROM (
  SELECT
    "value",
    (
      (
        CAST(SUM("n") OVER (ORDER BY "value" ASC NULLS LAST) AS BIGINT) - "n"
      ) * 1048576
    ) // CAST(SUM("n") OVER () AS BIGINT) AS "step"
  FROM (
    SELECT
      "near_2" AS "value",
      COUNT(*) AS "n"
    FROM (
      SELECT
        "source"."rowid" AS "row",
        "source"."dob" AS "value_0",
        "source"."sex" AS "value_1",
        "source"."zip" AS "value_2",
        "source"."disease" AS "value_3",
        "source"."dob" AS "near_0",
        "source"."sex" AS "near_1",
        "source"."zip" AS "near_2"
      FROM "memory"."main"."patients" AS "source"
    ) AS "rows"
    GROUP BY
      "near_2"
  ) AS "counted"
) AS "stepped";

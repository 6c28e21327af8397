SELECT 1 FROM "__sqlanon_withheld_1" AS "gone" WHERE ("cell"."class_0" & 127) = "gone"."key_0"

SELECT 1 FROM {#1} AS "class" WHERE ("cell"."key_0" & {#2}) = "class"."key_0"

-- A macro for clients without Python, made of these parts and of a model's statements.
--
-- A macro is a query whose text is built when the macro is called: the normal relations (relations.sql), then the model's
-- statements. {{...}} is filled in when the macro is created. The text of the query is a string here, and the arguments of a call
-- (arguments.sql) replace each $name in it.

-- part: macro
-- Each mark stands between two dollars, so every second piece of the text is the name of a mark, and a dollar in a user's name is
-- never taken for a mark. The pieces are numbered by range, because a setting of the session decides whether the index of a lambda
-- begins at 0 or 1.
CREATE OR REPLACE MACRO anon.{{model}}({{parameters}}) AS TABLE
FROM query(
  CASE WHEN lower(current_setting('default_collation')) NOT IN ('', 'binary', 'c', 'posix')
  THEN error('{{model}}: this session compares text by a collation, under which classes look larger than they are')
  WHEN current_setting('integer_division')
  THEN error('{{model}}: this session has integer_division, under which shares are whole numbers: RESET integer_division')
  ELSE list_transform([{{given}}], lambda given: list_transform([string_split({{query}}, '$')],
    lambda pieces: array_to_string(list_transform(list_zip(pieces, range(len(pieces))),
      lambda part: CASE WHEN part[2] % 2 = 0 THEN part[1]
        ELSE coalesce(given[part[1]], error('{{model}} lacks ' || part[1])) END), ''))[1])[1] END
)

-- part: optional
{{name}} := NULL

-- part: choice
CASE coalesce(CAST({{argument}} AS VARCHAR), {{default}}) {{cases}}
  ELSE error('{{model}} has no {{argument}} ' || coalesce(CAST({{argument}} AS VARCHAR), 'NULL')
    || ': write {{choices}}') END

-- part: case
WHEN '{{value}}' THEN {{of}}

-- part: if_required
CASE WHEN {{nothing_required}} THEN {{achieved}}
  WHEN {{something_missing}} THEN error('{{called}} needs all of {{bounds}} to say whether they are satisfied')
  ELSE {{judged}} END

-- part: left_out
{{name}} IS NULL

-- part: achieved
{{relations}}
SELECT achieved, (SELECT count(*) FROM equivalence_class) AS classes,
  (SELECT CAST(sum(size) AS BIGINT) FROM equivalence_class) AS rows
FROM ({{achieved}}) AS answer
WHERE (
  SELECT CASE WHEN count(*) = 0 THEN true ELSE error('{{called}}: ' || arg_min(problem, place)) END
  FROM "__sqlanon_problem"
)

-- part: violating
{{relations}}
SELECT class_id, size
FROM ({{violations}}) AS violating

-- part: judged
{{relations}}
SELECT achieved, (SELECT count(*) FROM equivalence_class) AS classes,
  (SELECT CAST(sum(size) AS BIGINT) FROM equivalence_class) AS rows,
  CAST({{required}} AS DOUBLE) AS required, violations = 0 AS satisfied, violations
FROM ({{achieved}}) AS answer
CROSS JOIN (SELECT count(*) AS violations FROM ({{violations}}) AS violating) AS counted
WHERE (
  SELECT CASE WHEN count(*) = 0 THEN true ELSE error('{{called}}: ' || arg_min(problem, place)) END
  FROM "__sqlanon_problem"
)

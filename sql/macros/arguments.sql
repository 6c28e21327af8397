-- The arguments of a macro's call: each part is an expression that checks one kind of argument, and returns its text in the query.
-- A name is quoted, text becomes a literal, and a number consists of digits only. NULL is an argument that was left out.

-- part: map
MAP { {{entries}} }

-- part: merged
map_concat({{maps}})

-- part: relation
CASE WHEN trim(coalesce(CAST({{name}} AS VARCHAR), '')) = ''
  THEN error('{{called}} needs {{name}}: the name of a table, or a query in parentheses')
  WHEN starts_with(ltrim(CAST({{name}} AS VARCHAR)), '(') THEN CAST({{name}} AS VARCHAR)
  ELSE 'query_table(''' || replace(CAST({{name}} AS VARCHAR), '''', '''''') || ''')' END

-- part: columns
CASE WHEN len(columns) = 0 OR columns IS NULL OR list_position(columns, NULL) IS NOT NULL
  THEN error('{{model}}: name at least one column, as in FROM anon.{{model}}(''table'', [''column''])')
  ELSE array_to_string([('"__sqlanon_source"."' || replace(name, '"', '""') || '"') FOR name IN columns], ', ') END

-- part: hidden
CASE WHEN len(columns) > {{most}}
  THEN error('{{model}} compares with every set of the columns: name {{most}} of them at most')
  ELSE array_to_string([('CASE WHEN (hidden.columns >> ' || (place - 1) || ') & 1 = 0 '
    || 'THEN struct_extract_at(cell.class_id, ' || place || ') END')
    FOR place IN range(1, len(columns) + 1)], ', ') END

-- part: sets
CAST(CAST(2 AS BIGINT) ** len(columns) AS BIGINT)::VARCHAR

-- part: sensitive
CASE WHEN typeof(sensitive) = 'VARCHAR' THEN [CAST(sensitive AS VARCHAR)] ELSE TRY_CAST(sensitive AS VARCHAR[]) END

-- part: value
list_transform([{{sensitive}}], lambda several: CASE
  WHEN coalesce(len(several), 0) = 0 OR list_position(several, NULL) IS NOT NULL
  THEN error('{{model}}: name a sensitive column, as in FROM anon.{{model}}(''table'', [''column''], ''disease'')')
  WHEN len(several) = 1 THEN '"__sqlanon_source"."' || replace(several[1], '"', '""') || '"'
  ELSE 'row('
    || array_to_string([('"__sqlanon_source"."' || replace(name, '"', '""') || '"') FOR name IN several], ', ')
    || ')' END)[1]

-- part: one_only
CASE WHEN len({{sensitive}}) > 1
  THEN error('{{called}} cannot be asked of several columns jointly: it needs the values of one') END

-- part: column
CASE WHEN coalesce(CAST({{name}} AS VARCHAR), '') = '' THEN error('{{called}} needs {{name}}: the name of a column')
  ELSE '"__sqlanon_source"."' || replace(CAST({{name}} AS VARCHAR), '"', '""') || '"' END

-- part: one_column
[CAST({{name}} AS VARCHAR)]

-- part: collations
-- A comparison that is bound but never evaluated. DuckDB cannot compare a column that has a collation with literals of both
-- collations, so the call fails. Under a collation different values are equal, and classes would seem larger than they are.
array_to_string([('CAST("__sqlanon_source"."' || replace(name, '"', '""') || '" AS VARCHAR) = (''a'' COLLATE nocase)'
  || ' OR CAST("__sqlanon_source"."' || replace(name, '"', '""') || '" AS VARCHAR) = (''a'' COLLATE noaccent)')
  FOR name IN {{names}}], ' OR ')

-- part: database
CASE WHEN database IS NULL THEN '' ELSE '"' || replace(CAST(database AS VARCHAR), '"', '""') || '".' END

-- part: hierarchy
CASE WHEN coalesce(CAST(hierarchy AS VARCHAR), '') = ''
  THEN error('{{called}} needs hierarchy: the name of a stored hierarchy of the sensitive values')
  ELSE '''' || replace(CAST(hierarchy AS VARCHAR), '''', '''''') || '''' END

-- part: text
CASE WHEN coalesce(CAST({{name}} AS VARCHAR), {{default}}) IN ({{choices}})
  THEN '''' || coalesce(CAST({{name}} AS VARCHAR), {{default}}) || ''''
  ELSE error('{{called}}: {{name}} is to be one of {{shown}}') END

-- part: bigint
-- A whole number may have a fraction of zeros.
list_transform([coalesce(CAST({{name}} AS VARCHAR), {{default}})], lambda written: list_transform([
  CASE WHEN regexp_full_match(written, '[+-]?[0-9]+[.]0*') THEN split_part(written, '.', 1) ELSE written END],
  lambda number: CASE WHEN number IS NULL THEN {{missing}}
  WHEN NOT regexp_full_match(number, '[+-]?[0-9]{1,19}')
  THEN error('{{called}}: {{name}} must be a whole number, not ' || number)
  WHEN NOT coalesce(TRY_CAST(number AS BIGINT) BETWEEN {{low}} AND {{high}}, false)
  THEN error('{{called}}: {{name}} = ' || number || ' is outside {{low}} to {{high}}')
  ELSE number END)[1])[1]

-- part: decimal
-- The number, and the numerator and the denominator of the number as written. Products of these with counts stay below 10^38.
list_transform([coalesce(CAST({{name}} AS VARCHAR), {{default}})], lambda number: CASE
  WHEN number IS NULL THEN {{missing}}
  WHEN NOT regexp_full_match(number, '[+-]?([0-9]{1,20}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?0?[0-9])?')
  THEN error('{{called}}: {{name}} must be a number, not ' || number)
  WHEN NOT coalesce(TRY_CAST(number AS DECIMAL(38, 21)) BETWEEN {{low}} AND {{high}}, false)
  THEN error('{{called}}: {{name}} = ' || number || ' is outside {{low}} to {{high}}')
  ELSE list_transform([CAST(replace(CAST(CAST(number AS DECIMAL(38, 21)) AS VARCHAR), '.', '') AS HUGEINT)],
    lambda shifted: list_transform([gcd(shifted, 1000000000000000000000::HUGEINT)],
      lambda common: CASE
        WHEN greatest(shifted // common, 1000000000000000000000::HUGEINT // common) > 10000000000000000000000
        OR TRY_CAST(number AS DECIMAL(38, 21)) IS DISTINCT FROM TRY_CAST(number AS DECIMAL(38, 30))
        THEN error('{{called}}: {{name}} = ' || number || ' has more digits than can be compared with')
        ELSE MAP {
          '{{name}}': 'CAST(' || number || ' AS DOUBLE)',
          '{{name}}_numerator': 'CAST(' || (shifted // common) || ' AS DECIMAL(38, 0))',
          '{{name}}_denominator': 'CAST(' || (1000000000000000000000::HUGEINT // common) || ' AS DECIMAL(38, 0))'
        } END)[1])[1] END)[1]

-- part: decimal_or_infinite
-- 'infinite' is the fraction 1 / 0. Each branch is a map of the three texts.
CASE WHEN CAST({{name}} AS VARCHAR) = 'infinite' THEN MAP {
  '{{name}}': 'CAST(''infinity'' AS DOUBLE)',
  '{{name}}_numerator': 'CAST(1 AS DECIMAL(38, 0))',
  '{{name}}_denominator': 'CAST(0 AS DECIMAL(38, 0))'
} ELSE {{decimal}} END

-- part: none
'NULL'

-- part: left_out
NULL

-- part: missing
error('{{called}} needs {{name}}')

-- part: unknown
CASE WHEN {{name}} IS NOT NULL THEN error('{{called}} has no argument {{name}}') END

-- One table instead of several that show values by bucket: within a bucket, each row of a table is joined with one random row of
-- each other table. The random order depends on the seed only, not on the source. It is computed by MD5, because DuckDB's hash of
-- several numbers gives the rows of two tables similar orders.

-- part: macro
CREATE OR REPLACE MACRO anon.joined_buckets(relations, seed := 1) AS TABLE
FROM query(
  CASE WHEN coalesce(len(relations), 0) = 0 OR list_position(relations, NULL) IS NOT NULL
  THEN error('joined_buckets: name the tables, as in FROM anon.joined_buckets([''released_1'', ''released_2''])')
  WHEN coalesce(TRY_CAST(seed AS BIGINT)::VARCHAR <> CAST(seed AS VARCHAR), true)
  THEN error('joined_buckets: seed must be a whole number')
  ELSE 'SELECT * EXCLUDE ("__sqlanon_row") FROM ' || array_to_string(
    list_transform(list_zip(relations, range(len(relations))), lambda part:
      '(SELECT * EXCLUDE ("__sqlanon_place", "__sqlanon_drawn"), row_number() OVER (PARTITION BY bucket'
      || ' ORDER BY "__sqlanon_drawn" ASC NULLS LAST, "__sqlanon_place" ASC NULLS LAST) AS "__sqlanon_row"'
      || ' FROM (SELECT *, md5_number(''' || CAST(seed AS VARCHAR) || ' ' || part[2] || ' '' || "__sqlanon_place")'
      || ' AS "__sqlanon_drawn" FROM (SELECT *, row_number() OVER () AS "__sqlanon_place" FROM '
      || CASE WHEN starts_with(ltrim(CAST(part[1] AS VARCHAR)), '(') THEN CAST(part[1] AS VARCHAR)
         ELSE 'query_table(''' || replace(CAST(part[1] AS VARCHAR), '''', '''''') || ''')' END
      || '))) AS "__sqlanon_' || part[2] || '"'
      || CASE WHEN part[2] = 0 THEN '' ELSE ' USING (bucket, "__sqlanon_row")' END),
    ' JOIN ') END
)

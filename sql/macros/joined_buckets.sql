-- One table of several that show values by bucket: within a bucket the rows of the tables are joined at random, and
-- each row with one of each other table. Which order that is depends on the seed, and on nothing of the source; the seed
-- goes through MD5, because DuckDB's hash of several numbers puts rows of two tables into orders that are alike.

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

-- A model over the classes of a table: what it achieves, the number of classes and of rows.
-- `relation` is a table's or view's name as it is written in SQL, or a query in parentheses; `columns`
-- are the quasi-identifiers' names. {{model}} and {{achieved}} are filled in from the model's file.
CREATE OR REPLACE MACRO anon.{{model}}(relation, columns) AS TABLE
FROM query(
    CASE WHEN len(columns) = 0 OR columns IS NULL OR list_position(columns, NULL) IS NOT NULL
    THEN error('{{model}}: name at least one column, as in FROM anon.{{model}}(''table'', [''column''])')
    ELSE
        'WITH equivalence_class AS (SELECT "__sqlanon_n" AS size, "__sqlanon_n" AS entities FROM (SELECT count(*) AS "__sqlanon_n" FROM '
        || CASE WHEN starts_with(ltrim(relation), '(') THEN relation
                ELSE 'query_table(''' || replace(relation, '''', '''''') || ''')' END
        || ' AS "__sqlanon_source" GROUP BY '
        || array_to_string([('"__sqlanon_source"."' || replace(name, '"', '""') || '"') FOR name IN columns], ', ')
        || ')) SELECT achieved, (SELECT count(*) FROM equivalence_class) AS classes, '
        || '(SELECT sum(size)::BIGINT FROM equivalence_class) AS rows FROM ({{achieved}})'
    END
)

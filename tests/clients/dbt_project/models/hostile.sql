{{ config(materialized='table') }}
SELECT age AS "sel""ect", zip AS "it's a.b", sex AS "order", disease AS "é中文" FROM {{ ref('people') }}

{{ config(materialized='anonymized', policy='clinic', contract={'enforced': true}) }}
SELECT age FROM {{ ref('people') }}

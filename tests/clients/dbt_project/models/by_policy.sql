{{ config(
    materialized=env_var('BY_POLICY', 'view'),
    policy='clinic',
    choose_method=env_var('CHOOSE', 'no') == 'yes',
    export='by_policy',
) }}
WITH older AS (SELECT age + 1 AS age, zip, disease FROM {{ ref('people') }}) SELECT * FROM older

{{ config(materialized='ephemeral') }}
SELECT *, 'never published' AS secret FROM {{ ref('hostile') }}

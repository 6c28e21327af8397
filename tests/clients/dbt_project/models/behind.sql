SELECT count(*) AS rows FROM {{ ref('released') }}

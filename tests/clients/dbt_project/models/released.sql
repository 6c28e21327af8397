{{ config(
    materialized='anonymized',
    policy={
        'quasi_identifiers': {'SEL"ect': 'WEIGHT 2', "it's a.b": '', 'order': ''},
        'sensitive': 'é中文',
        'hierarchies': {
            'sel"ect': 'INTERVALS (10, 20, 40)',
            "it's a.b": 'PREFIXES (4, 3)',
            'order': "LEVELS (FROM {{ ref('sexes') }})",
        },
        'require': ['k_anonymity(k => ' ~ env_var('K', '4') ~ ')', 'l_diversity(l => 2)'],
    },
    method='generalization(suppression => 0.1)',
    export='published',
) }}

-- depends_on: {{ ref('sexes') }}
SELECT * FROM {{ ref('ephemeral') }} -- the end

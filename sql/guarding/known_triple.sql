-- known_triple(value, l, k, m): an adversary's knowledge about a value, by its code; NULL means every value.
-- A triple whose value is in no row is left out, because it has no effect.
-- tables: listed(value, l, k, m), coded(value_0, code); parameter: $typed, the listed value in the column's type
SELECT coded.code AS value, listed.l::BIGINT AS l, listed.k::BIGINT AS k, listed.m::BIGINT AS m
FROM listed
LEFT JOIN coded ON $typed = coded.value_0
WHERE listed.value IS NULL OR NOT coded.code IS NULL

-- The signatures of classes, the sets of their values: each as the exclusive or of 128 bits of each value, which differs for others but
-- with a probability of 2^-128 a pair. n is how often a class has a value at the most.
SELECT v.position, v.class_no, bit_xor(k.key) AS key, sum(v.n) AS size, max(v.n) AS n
FROM value_of_class AS v
JOIN (
  SELECT value, coalesce(md5_number(value), 1) AS key FROM (SELECT DISTINCT value FROM value_of_class) AS each
) AS k ON k.value IS NOT DISTINCT FROM v.value
GROUP BY v.position, v.class_no

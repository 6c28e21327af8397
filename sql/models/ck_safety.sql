-- model: ck_safety
-- title: A reader who knows any k implications about people's sensitive values never assigns a probability of c or more to a value.
-- paper: Martin, Kifer, Machanavajjhala, Gehrke and Halpern, Worst-case background knowledge for privacy-preserving data publishing (2007)
-- parameter: c DECIMAL 0.000001 1 -- the probability that no value may reach
-- parameter: k BIGINT 0 8 -- the number of implications that a reader knows
-- required: at most c
-- monotone: no -- it is monotone for a whole release (Martin et al.), but nothing is proven for two satisfying classes beside violating ones
-- monotone under suppression: no -- a class that is added may be one of those that the knowledge is about
-- excess: 0: what a class reveals depends on all other classes, so no excess is certain in advance
-- excess maximum: 1
-- whole release: yes -- an implication may be about people of any class
-- one row each: yes -- a world gives each person one value
-- reads: class_sensitive_value

-- An implication is: if some people have some values, then one of some people has one of some values. Worlds give each person
-- of a class one of the values of its rows, and are equally likely. The worst k implications all conclude that one person
-- has one value A, and their premises are k further atoms "a person has a value" (Martin et al.). So
--   probability of A = 1 / (1 + odds), odds = P(neither A nor any of k atoms) / P(A),
-- and an atom about the same person as A is a negation. The disclosure has to stay below c.
--
-- e_j is the least probability that none of j atoms about people of a class holds. The best j atoms give persons 1, 2, ..
-- l_1 >= l_2 >= .. atoms, each about the most frequent values. With r_l rows of the l most frequent values in a class
-- of `size` rows, person i then has none of these values with the probability
--   p_i_l = (size - (i - 1) - r_l) / (size - (i - 1)), or 0 if that is negative or there is no person i,
-- and e_j is the least product over the partitions of j. m_j is the least product of such e over all classes and all
-- partitions of j among them. The odds of a class are the least e_j m_(k + 1 - j) size / r_1 for j from 1 to k + 1.
--
-- m_j may use a class several times, and the target's class as well, although all atoms about a class belong together:
-- e_(a + b) <= e_a e_b. To see this, order the people of both partitions by falling l. Nobody gets a smaller i than before, and
-- p_i_l falls with i. If there are as many people as rows, the last person has the probability 0. So a product that uses a class
-- twice is at least the product that uses it once with all its atoms, which is among the products, too.
--
-- Products of at most 18 DOUBLEs are wrong by less than 1e-14 of their value. A disclosure less than 1e-12 below c
-- counts as c, so that rounding never satisfies the model.

-- shared: each statement begins with these relations
WITH ranked AS (
  SELECT class_id, n, row_number() OVER (PARTITION BY class_id ORDER BY n DESC NULLS LAST) AS place
  FROM class_sensitive_value
), histogram AS (
  SELECT class_id, CAST(sum(n) AS DOUBLE) AS size,
    CAST(sum(CASE WHEN place <= 1 THEN n ELSE 0 END) AS DOUBLE) AS r1,
    CAST(sum(CASE WHEN place <= 2 THEN n ELSE 0 END) AS DOUBLE) AS r2,
    CAST(sum(CASE WHEN place <= 3 THEN n ELSE 0 END) AS DOUBLE) AS r3,
    CAST(sum(CASE WHEN place <= 4 THEN n ELSE 0 END) AS DOUBLE) AS r4,
    CAST(sum(CASE WHEN place <= 5 THEN n ELSE 0 END) AS DOUBLE) AS r5,
    CAST(sum(CASE WHEN place <= 6 THEN n ELSE 0 END) AS DOUBLE) AS r6,
    CAST(sum(CASE WHEN place <= 7 THEN n ELSE 0 END) AS DOUBLE) AS r7,
    CAST(sum(CASE WHEN place <= 8 THEN n ELSE 0 END) AS DOUBLE) AS r8,
    CAST(sum(CASE WHEN place <= 9 THEN n ELSE 0 END) AS DOUBLE) AS r9
  FROM ranked
  GROUP BY class_id
), person AS (
  SELECT class_id, size, r1,
    greatest(size - 0 - r1, 0) / greatest(size - 0, 1) AS p1_1,
    greatest(size - 0 - r2, 0) / greatest(size - 0, 1) AS p1_2,
    greatest(size - 0 - r3, 0) / greatest(size - 0, 1) AS p1_3,
    greatest(size - 0 - r4, 0) / greatest(size - 0, 1) AS p1_4,
    greatest(size - 0 - r5, 0) / greatest(size - 0, 1) AS p1_5,
    greatest(size - 0 - r6, 0) / greatest(size - 0, 1) AS p1_6,
    greatest(size - 0 - r7, 0) / greatest(size - 0, 1) AS p1_7,
    greatest(size - 0 - r8, 0) / greatest(size - 0, 1) AS p1_8,
    greatest(size - 0 - r9, 0) / greatest(size - 0, 1) AS p1_9,
    greatest(size - 1 - r1, 0) / greatest(size - 1, 1) AS p2_1,
    greatest(size - 1 - r2, 0) / greatest(size - 1, 1) AS p2_2,
    greatest(size - 1 - r3, 0) / greatest(size - 1, 1) AS p2_3,
    greatest(size - 1 - r4, 0) / greatest(size - 1, 1) AS p2_4,
    greatest(size - 2 - r1, 0) / greatest(size - 2, 1) AS p3_1,
    greatest(size - 2 - r2, 0) / greatest(size - 2, 1) AS p3_2,
    greatest(size - 2 - r3, 0) / greatest(size - 2, 1) AS p3_3,
    greatest(size - 3 - r1, 0) / greatest(size - 3, 1) AS p4_1,
    greatest(size - 3 - r2, 0) / greatest(size - 3, 1) AS p4_2,
    greatest(size - 4 - r1, 0) / greatest(size - 4, 1) AS p5_1,
    greatest(size - 5 - r1, 0) / greatest(size - 5, 1) AS p6_1,
    greatest(size - 6 - r1, 0) / greatest(size - 6, 1) AS p7_1,
    greatest(size - 7 - r1, 0) / greatest(size - 7, 1) AS p8_1,
    greatest(size - 8 - r1, 0) / greatest(size - 8, 1) AS p9_1
  FROM histogram
), class AS (
  SELECT class_id, size, r1, p1_1 AS e1,
    least(
      p1_2, p1_1 * p2_1) AS e2,
    least(
      p1_3, p1_2 * p2_1, p1_1 * p2_1 * p3_1) AS e3,
    least(
      p1_4, p1_3 * p2_1, p1_2 * p2_2, p1_2 * p2_1 * p3_1, p1_1 * p2_1 * p3_1 * p4_1) AS e4,
    least(
      p1_5, p1_4 * p2_1, p1_3 * p2_2, p1_3 * p2_1 * p3_1, p1_2 * p2_2 * p3_1, p1_2 * p2_1 * p3_1 * p4_1,
      p1_1 * p2_1 * p3_1 * p4_1 * p5_1) AS e5,
    least(
      p1_6, p1_5 * p2_1, p1_4 * p2_2, p1_4 * p2_1 * p3_1, p1_3 * p2_3, p1_3 * p2_2 * p3_1, p1_3 * p2_1 * p3_1 * p4_1,
      p1_2 * p2_2 * p3_2, p1_2 * p2_2 * p3_1 * p4_1, p1_2 * p2_1 * p3_1 * p4_1 * p5_1,
      p1_1 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1) AS e6,
    least(
      p1_7, p1_6 * p2_1, p1_5 * p2_2, p1_5 * p2_1 * p3_1, p1_4 * p2_3, p1_4 * p2_2 * p3_1, p1_4 * p2_1 * p3_1 * p4_1,
      p1_3 * p2_3 * p3_1, p1_3 * p2_2 * p3_2, p1_3 * p2_2 * p3_1 * p4_1, p1_3 * p2_1 * p3_1 * p4_1 * p5_1,
      p1_2 * p2_2 * p3_2 * p4_1, p1_2 * p2_2 * p3_1 * p4_1 * p5_1, p1_2 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1,
      p1_1 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1 * p7_1) AS e7,
    least(
      p1_8, p1_7 * p2_1, p1_6 * p2_2, p1_6 * p2_1 * p3_1, p1_5 * p2_3, p1_5 * p2_2 * p3_1, p1_5 * p2_1 * p3_1 * p4_1,
      p1_4 * p2_4, p1_4 * p2_3 * p3_1, p1_4 * p2_2 * p3_2, p1_4 * p2_2 * p3_1 * p4_1,
      p1_4 * p2_1 * p3_1 * p4_1 * p5_1, p1_3 * p2_3 * p3_2, p1_3 * p2_3 * p3_1 * p4_1, p1_3 * p2_2 * p3_2 * p4_1,
      p1_3 * p2_2 * p3_1 * p4_1 * p5_1, p1_3 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1, p1_2 * p2_2 * p3_2 * p4_2,
      p1_2 * p2_2 * p3_2 * p4_1 * p5_1, p1_2 * p2_2 * p3_1 * p4_1 * p5_1 * p6_1,
      p1_2 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1 * p7_1, p1_1 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1 * p7_1 * p8_1) AS e8,
    least(
      p1_9, p1_8 * p2_1, p1_7 * p2_2, p1_7 * p2_1 * p3_1, p1_6 * p2_3, p1_6 * p2_2 * p3_1, p1_6 * p2_1 * p3_1 * p4_1,
      p1_5 * p2_4, p1_5 * p2_3 * p3_1, p1_5 * p2_2 * p3_2, p1_5 * p2_2 * p3_1 * p4_1,
      p1_5 * p2_1 * p3_1 * p4_1 * p5_1, p1_4 * p2_4 * p3_1, p1_4 * p2_3 * p3_2, p1_4 * p2_3 * p3_1 * p4_1,
      p1_4 * p2_2 * p3_2 * p4_1, p1_4 * p2_2 * p3_1 * p4_1 * p5_1, p1_4 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1,
      p1_3 * p2_3 * p3_3, p1_3 * p2_3 * p3_2 * p4_1, p1_3 * p2_3 * p3_1 * p4_1 * p5_1, p1_3 * p2_2 * p3_2 * p4_2,
      p1_3 * p2_2 * p3_2 * p4_1 * p5_1, p1_3 * p2_2 * p3_1 * p4_1 * p5_1 * p6_1,
      p1_3 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1 * p7_1, p1_2 * p2_2 * p3_2 * p4_2 * p5_1,
      p1_2 * p2_2 * p3_2 * p4_1 * p5_1 * p6_1, p1_2 * p2_2 * p3_1 * p4_1 * p5_1 * p6_1 * p7_1,
      p1_2 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1 * p7_1 * p8_1,
      p1_1 * p2_1 * p3_1 * p4_1 * p5_1 * p6_1 * p7_1 * p8_1 * p9_1) AS e9
  FROM person
), weakest AS (
  SELECT min(e1) AS m1, min(e2) AS m2, min(e3) AS m3, min(e4) AS m4, min(e5) AS m5, min(e6) AS m6, min(e7) AS m7, min(e8) AS m8 FROM class
), others2 AS (
  SELECT m1, m3, m4, m5, m6, m7, m8, least(m2, m1 * m1) AS m2 FROM weakest
), others3 AS (
  SELECT m1, m2, m4, m5, m6, m7, m8, least(m3, m1 * m2) AS m3 FROM others2
), others4 AS (
  SELECT m1, m2, m3, m5, m6, m7, m8, least(m4, m1 * m3, m2 * m2) AS m4 FROM others3
), others5 AS (
  SELECT m1, m2, m3, m4, m6, m7, m8, least(m5, m1 * m4, m2 * m3) AS m5 FROM others4
), others6 AS (
  SELECT m1, m2, m3, m4, m5, m7, m8, least(m6, m1 * m5, m2 * m4, m3 * m3) AS m6 FROM others5
), others7 AS (
  SELECT m1, m2, m3, m4, m5, m6, m8, least(m7, m1 * m6, m2 * m5, m3 * m4) AS m7 FROM others6
), others8 AS (
  SELECT m1, m2, m3, m4, m5, m6, m7, least(m8, m1 * m7, m2 * m6, m3 * m5, m4 * m4) AS m8 FROM others7
), judged AS (
  SELECT class_id, size, size / nullif(r1, 0) * CASE $k
      WHEN 0 THEN e1
      WHEN 1 THEN least(e2, e1 * m1)
      WHEN 2 THEN least(e3, e2 * m1, e1 * m2)
      WHEN 3 THEN least(e4, e3 * m1, e2 * m2, e1 * m3)
      WHEN 4 THEN least(e5, e4 * m1, e3 * m2, e2 * m3, e1 * m4)
      WHEN 5 THEN least(e6, e5 * m1, e4 * m2, e3 * m3, e2 * m4, e1 * m5)
      WHEN 6 THEN least(e7, e6 * m1, e5 * m2, e4 * m3, e3 * m4, e2 * m5, e1 * m6)
      WHEN 7 THEN least(e8, e7 * m1, e6 * m2, e5 * m3, e4 * m4, e3 * m5, e2 * m6, e1 * m7)
      ELSE least(e9, e8 * m1, e7 * m2, e6 * m3, e5 * m4, e4 * m5, e3 * m6, e2 * m7, e1 * m8)
    END AS odds
  FROM class
  CROSS JOIN others8
)

-- statement: achieved
SELECT max(1 / (1 + odds)) AS achieved FROM judged

-- statement: violations
SELECT class_id, CAST(size AS BIGINT) AS size, CAST(0 AS DOUBLE) AS excess
FROM judged
WHERE $c * (1 + odds) <= 1 + CAST(1e-12 AS DOUBLE)

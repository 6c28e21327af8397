-- The size and the respondents of the classes by a set of columns: class_id, size, entities.
--
-- {classes}: {set}, the number of the class by the set, class_id, size, a row for each class by all columns;
-- {respondents}: class_id, entity. $entities counts the values of part.entity. A respondent in two classes of one set
-- class counts once.
SELECT sized.class_id, sized.size, counted.entities
FROM (
  SELECT {set} AS class_id, CAST(sum(size) AS BIGINT) AS size FROM "{classes}" GROUP BY {set}
) AS sized
LEFT JOIN (
  SELECT {class.set} AS class_id, $entities AS entities
  FROM "{respondents}" AS part
  JOIN "{classes}" AS class ON part.class_id = class.class_id
  GROUP BY {class.set}
) AS counted ON sized.class_id = counted.class_id

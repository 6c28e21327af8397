-- The labels of rows without a class: position, class_no, reused. Each row takes the narrowest earlier label that
-- covers it.
--
-- member: position, formed and the row's values; label: class_no and the labels {texts}; measured: label with its
-- widths in each quasi-identifier, and the spans of all labels up to it. $width is a label's width as a share of the
-- span of all labels before the row (s), $covers whether the label l covers the row m. Of equal labels the oldest is
-- taken.
SELECT m.position, arg_min(l.class_no, ($width, l.class_no)) AS class_no, true AS reused
FROM member AS m
ASOF JOIN measured AS s ON s.class_no < m.position
JOIN (
  SELECT * FROM measured WHERE class_no IN (SELECT min(class_no) AS class_no FROM label GROUP BY {texts})
) AS l ON l.class_no < m.position AND $covers
WHERE NOT m.formed
GROUP BY m.position

-- class, list_id, code: the labels of lists that were raised, as the nodes above them, each once in a list.
SELECT DISTINCT labelled.class, labelled.list_id, raised.above AS code
FROM labelled
JOIN raised ON raised.code = labelled.code

-- All classes: signature, place. placed: the rows of placed.sql.
SELECT DISTINCT signature, place FROM placed

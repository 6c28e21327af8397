-- The classes there are.
SELECT DISTINCT signature, place FROM placed

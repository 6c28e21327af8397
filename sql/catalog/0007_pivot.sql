-- Policies over a long table with a row for each rating of an item by a respondent, whose attributes are the items: a JSON
-- object with the columns of the item and of its value. NULL for a source with a column for each attribute.

ALTER TABLE anon.policy ADD COLUMN pivoted VARCHAR;

-- The ratings of a long table, with numbers for the respondents and the items: respondent, item, name, rating.
--
-- ratings: {item}, {rating}, and $person, the respondent. A row with a NULL rating is left out.
SELECT dense_rank() OVER (ORDER BY $person ASC NULLS LAST) AS respondent,
  dense_rank() OVER (ORDER BY CAST({item} AS VARCHAR) ASC NULLS LAST) AS item, CAST({item} AS VARCHAR) AS name,
  {rating} AS rating
FROM ratings
WHERE {rating} IS NOT NULL

-- title: The confidence in a respondent's value of a reader who knows the class of each respondent in every release of the series.
-- paper: Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy (2008); De Capitani di Vimercati et al., Data privacy: definitions and techniques (2012), section 3.1
-- parameter: max DECIMAL 0.000001 1 -- the greatest confidence that the releases may give together
-- parameter: changed TEXT refused|ignored DEFAULT refused -- the treatment of respondents whose classes have no value in common, so that their value must have changed
-- falls: no -- a value that a merged class has more rows of becomes likelier for those whom only the other release tells apart
-- reads: composed

-- There is no confidence for respondents whose value must have changed, because the adversary assumes that it stays the same. If classes
-- contradict each other, the value of at least one of their respondents must have changed.

-- statement: figures
SELECT max(confidence) AS achieved,
  coalesce(max(confidence), 0.0) <= $max
    AND ($changed = 'ignored' OR coalesce(max(greatest(changed, contradicted)), 0) = 0) AS satisfied,
  coalesce(sum(CASE WHEN confidence > $max THEN people ELSE 0 END), 0) AS respondents_whose_value_is_surer,
  coalesce(sum(CASE WHEN changed = 1 THEN people ELSE 0 END), 0) AS respondents_whose_value_has_changed,
  coalesce(sum(CASE WHEN contradicted > changed THEN people ELSE 0 END), 0) AS respondents_among_whom_a_value_has_changed
FROM (
  SELECT respondent, max(people) AS people, max(confidence) AS confidence, max(changed) AS changed, max(contradicted) AS contradicted
  FROM composed
  GROUP BY respondent
) AS surest

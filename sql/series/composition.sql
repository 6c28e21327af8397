-- title: How sure of a respondent's value somebody is who knows the class of each respondent in every release of the series.
-- paper: Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy (2008); De Capitani di Vimercati et al., Data privacy: definitions and techniques (2012), section 3.1
-- parameter: max DECIMAL 0.000001 1 -- the greatest confidence that the releases may give together
-- parameter: changed TEXT refused|ignored DEFAULT refused -- respondents who have no value in all of their classes, and so another than before
-- falls: no -- a value that a merged class has more rows of becomes likelier for those whom only the other release tells apart
-- reads: composed

-- Those whose value must have changed have no confidence: the adversary takes it for one and the same. Where classes contradict each other, a
-- value must have changed among their respondents.

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

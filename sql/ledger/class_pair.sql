-- The classes of each respondent in the last release of a series, and in the latest before with the respondent.
SELECT release, class, former_release, former_class FROM pair WHERE former_class IS NOT NULL
UNION ALL
SELECT release, class, former_release, former_class FROM returner_pair

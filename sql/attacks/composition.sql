-- attack: composition
-- title: An adversary who knows a respondent's class in each of two releases names the value that both classes have.
-- paper: Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy (2008); De Capitani di Vimercati et al., Data privacy: definitions and techniques (2012), figure 7
-- parameter: with RELATION -- another release about some of the same respondents
-- parameter: variant TEXT counting|intersection DEFAULT counting -- whether the adversary also counts the possible owners of each row, or only compares the values of both classes
-- falls: no -- a value that has more rows in a merged class becomes likelier for respondents whom only the other release distinguishes
-- reads: class_sensitive_value, composed_respondent

-- The attack succeeds for respondents with one value left.

-- statement: classes
SELECT label AS class_id, people AS targets, confidence, certain AS succeeded FROM composed_respondent

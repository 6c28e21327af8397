-- attack: composition
-- title: An adversary who knows which class of each of two releases a respondent is in names the value that both have.
-- paper: Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy (2008); De Capitani di Vimercati et al., Data privacy: definitions and techniques (2012), figure 7
-- parameter: with RELATION -- another release about some of the same respondents
-- parameter: variant TEXT counting|intersection DEFAULT counting -- whether it is counted who can have which row, or only which values both classes have
-- falls: no -- a value that a merged class has more rows of becomes likelier for those whom only the other release tells apart
-- reads: class_sensitive_value, composed_respondent

-- Succeeded are the respondents with one value left.

-- statement: classes
SELECT label AS class_id, people AS targets, confidence, certain AS succeeded FROM composed_respondent

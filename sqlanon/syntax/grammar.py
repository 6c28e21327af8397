"""The grammar rules (EBNF) that several statements share; each statement's own rule is in its class."""

from __future__ import annotations

# A word in upper case is a keyword. Text between question marks describes a token in words.
SHARED = """
attributes = "(" attribute {"," attribute} [","] ")" ;
attribute = name role ;
role = ( IDENTIFIER | ENTITY ) { PSEUDONYM [KEY string] | MASK call [KEY string] }
  | ( QUASI IDENTIFIER | QUASI "-" IDENTIFIER | QUASI_IDENTIFIER )
    quasi_clauses
  | SENSITIVE { USING name | labels | shift }
  | INSENSITIVE { shift | SAMPLING WEIGHT } ;
labels = MIN LEVEL integer | HIDE "(" string {"," string} [","] ")" ;
shift = SHIFT "(" ( DAYS | WEEKS ) arrow whole [","] ")" [KEY string] ;
quasi_clauses = { USING name | USING AUTO | MIN LEVEL integer | MAX LEVEL integer | WEIGHT number } ;
requirements = REQUIRE call {"," call} [","] ;
call = name [ "(" [ arguments [","] ] ")" ] ;
arguments = ( named_argument | value ) {"," named_argument} ;
named_argument = argument_name arrow value ;
argument_name = word | quoted_name ;
arrow = "=>" | ":" "=" ;
value = scalar | EACH digits | "(" item {"," item} [","] ")" ;
item = scalar | written_name LEVEL integer ;
scalar = text | ["-"] digits ["%"] | TRUE | FALSE | INTERVAL ( text | digits name ) | written_name | placeholder ;
columns = "(" name {"," name} [","] ")" ;
column_set = columns ;
column_sets = column_set {"," column_set} ;
sensitive = SENSITIVE name [USING name] {"," name [USING name]} ;
sensitive_labels = SENSITIVE name { USING name | labels } {"," name { USING name | labels }} ;
kind = RELEASE | [ANONYMIZED] ( TABLE | VIEW ) ;
release = qualified_name | kind written_name ;
target = release ["(" sql ")"] | file | "(" query ")" ;
source = table | file | "(" query ")" ;
table = qualified_name | table_function ;
table_function = qualified_name "(" sql ")" ;
qualified_name = name ["." name ["." name]] ;
written_name = identifier ["." name ["." name]] ;
name = identifier | placeholder ;
identifier = bare_name | quoted_name ;
bare_name = ? a word that DuckDB does not reserve ? ;
quoted_name = ? a text in double quotes or in backticks ? ;
placeholder = ? a parameter, $1, $name, or getvariable('name') ? ;
word = ? a word, reserved or not ? ;
string = text | placeholder ;
text = ? a text in single quotes or in dollar quotes ? ;
file = ? a text in single quotes that DuckDB reads as a file ? ;
date = day | placeholder ;
day = ? a date in single quotes, as in '2027-06-30' ? ;
number = ["-"] digits ["%"] | placeholder ;
integer = ["-"] whole | placeholder ;
digits = ? digits, which may have underscores, a fraction and an exponent ? ;
whole = ? digits without a fraction ? ;
query = ? a query of DuckDB's, which begins with SELECT, FROM, WITH, VALUES, TABLE, PIVOT or UNPIVOT ? ;
sql = ? arguments of a function of DuckDB's ? ;
"""

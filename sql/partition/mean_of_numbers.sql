-- The mean of the numbers of each region, $mean, NULL not counted: region, middle.
--
-- points: region, n and the rank of an attribute's value; ranked: its values by rank.
SELECT point.region, $mean AS middle
FROM points AS point
JOIN ranked AS valued ON {valued.of_value} = {point.rank} AND NOT valued.value IS NULL
GROUP BY point.region

-- The rows that are in these blocks, and those in none: {columns}. again: block.
SELECT {dealt.columns}
FROM dealt
LEFT JOIN again ON dealt.block = again.block
WHERE dealt.block IS NULL OR again.block IS NOT NULL

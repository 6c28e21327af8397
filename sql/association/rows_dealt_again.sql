-- The rows that are assigned to blocks again, because they are in one of these blocks or in none: {columns}. again:
-- block.
SELECT {dealt.columns}
FROM dealt
LEFT JOIN again ON dealt.block = again.block
WHERE dealt.block IS NULL OR again.block IS NOT NULL

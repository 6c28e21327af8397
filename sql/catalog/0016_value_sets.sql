-- What a class shows of a sensitive attribute is a set of values, each with its number of rows. Many classes show the same, in one release and
-- from one to the next, so a set is written down once, with the release that had it first, and a class names it.
--
-- A set is known by what is in it: the exclusive or of 128 bits of each value and its number, and of how many values there are. The bits are
-- other ones in each series and of each attribute, so that nobody whose values are published can look for others with the same.

ALTER TABLE anon.series_value RENAME TO series_former_value;

CREATE TABLE anon.series_class (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    class_no BIGINT NOT NULL,
    attribute VARCHAR NOT NULL,
    value_set UUID NOT NULL
);

CREATE TABLE anon.series_value (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    value_set UUID NOT NULL,
    attribute VARCHAR NOT NULL,
    value VARCHAR,
    n BIGINT NOT NULL
);

INSERT INTO anon.series_class
SELECT series_id, position, class_no, attribute,
    xor(bit_xor(md5_number(concat_ws(':', series_id, hex(attribute), n, value))), count(*)::UHUGEINT)::UUID
FROM anon.series_former_value
GROUP BY series_id, position, class_no, attribute;

INSERT INTO anon.series_value
SELECT v.series_id, v.position, s.value_set, v.attribute, v.value, v.n
FROM anon.series_former_value AS v
JOIN (
    SELECT series_id, attribute, value_set, min(position) AS position, arg_min(class_no, (position, class_no)) AS class_no
    FROM anon.series_class
    GROUP BY series_id, attribute, value_set
) AS s ON s.series_id = v.series_id AND s.position = v.position AND s.class_no = v.class_no AND s.attribute = v.attribute;

DROP TABLE anon.series_former_value;

-- The digests of former releases are of the values of each class. The checksums are compared anew.
ALTER TABLE anon.series_release ADD COLUMN digest_of VARCHAR DEFAULT 'classes';
UPDATE anon.series_release SET checksum = NULL;

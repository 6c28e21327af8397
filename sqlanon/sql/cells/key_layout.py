"""Where each level of each attribute stands in the 64-bit words of a key.

A prefix code is a value's path from the root of its hierarchy, a bit field per
level. Fields of all quasi-identifiers stand side by side in one word, in more words
when the bits run out; a word is a BIGINT, of which 62 bits are used, so that no sum
can touch the sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.sql.sizes import sizes


@dataclass(frozen=True)
class Field:
    """The bits of one level of one attribute: `bits` bits at `shift` in word `word`."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.shift


def bits_for(count: int) -> int:
    """The bits that tell `count` siblings apart; an only child needs none."""
    return max(count - 1, 0).bit_length()


@dataclass(frozen=True)
class KeyLayout:
    """`fields[attribute][level]` for the levels 0 .. height - 1; the root has no field.

    `carried` are the fields of columns that are never generalized: those that
    requirements read.
    """

    fields: tuple[tuple[Field, ...], ...]
    carried: tuple[Field, ...] = ()

    @classmethod
    def pack(cls, siblings: Sequence[Sequence[int]], carried: Sequence[int] = ()) -> KeyLayout:
        """A layout for at most `siblings[attribute][level]` children of one parent, and `carried` values of columns.

        An attribute's coarser levels stand above its finer ones, so that within a word
        code order is value order.
        """
        word, used = 0, 0
        fields: list[tuple[Field, ...]] = []
        for levels in (*siblings, *([values] for values in carried)):
            attribute_fields: list[Field] = []
            for bits in map(bits_for, levels):
                if used + bits > sizes().word_bits:
                    word, used = word + 1, 0
                attribute_fields.append(Field(word, used, bits))
                used += bits
            fields.append(tuple(attribute_fields))
        return cls(
            tuple(fields[: len(siblings)]), tuple(attribute_fields[0] for attribute_fields in fields[len(siblings) :])
        )

    @property
    def words(self) -> int:
        return 1 + max((field.word for levels in (*self.fields, self.carried) for field in levels), default=0)

    @property
    def carried_masks(self) -> tuple[int, ...]:
        """The mask of each word that keeps the carried columns."""
        masks = [0] * self.words
        for field in self.carried:
            masks[field.word] |= field.mask
        return tuple(masks)

    @property
    def used(self) -> int:
        """The bits of the first word that are in use."""
        fields = (field for levels in (*self.fields, self.carried) for field in levels if field.word == 0)
        return max((field.shift + field.bits for field in fields), default=0)

    def masks(self, levels: Sequence[int]) -> tuple[int, ...]:
        """The mask of each word that keeps every attribute's fields from its level up."""
        masks = [0] * self.words
        for fields, level in zip(self.fields, levels, strict=True):
            for field in fields[level:]:
                masks[field.word] |= field.mask
        return tuple(masks)

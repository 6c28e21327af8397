"""Suppression of single cells: NULL in place of the labels that make a row rare."""

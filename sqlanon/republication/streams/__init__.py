"""Streams: rows that arrive one after the other, published in classes no later than a given delay."""

"""Programs for developers: they write the parts of docs and tests that are made from the code."""

"""Programs for developers: what writes the parts of docs and tests that are made from the code, and what gets nginx."""

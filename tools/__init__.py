"""Programs for developers: they write what docs and the chart have from the code, and releases; they install."""

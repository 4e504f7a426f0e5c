"""The benchmark: it measures what users experience, in one run, and shows each figure beside what it has to reach."""

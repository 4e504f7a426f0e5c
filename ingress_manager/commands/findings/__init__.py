"""Findings: problems in a cluster, each with a remedy. `audit` and `status` show them."""

"""Which annotations of a Service ask for what an Ingress says, and what would be different."""

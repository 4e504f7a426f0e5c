"""Developer tools: they generate docs and the chart's schema, build releases, and install ingress-manager."""

"""The snapshot of a cluster: its Services, Ingresses and HTTPRoutes, what belongs together, and what is desired."""

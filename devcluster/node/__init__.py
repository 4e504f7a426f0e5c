"""A real node: Pods run on it. It lives in namespaces of its own, and nothing of it outlives them."""

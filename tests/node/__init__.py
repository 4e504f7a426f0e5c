"""On a whole node, with Pods: `make test-node`, as root on Linux."""

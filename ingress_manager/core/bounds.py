"""The bounds: how much one Service may request. A Service that requests more is refused before it delays others."""

MOST_ENTRANCES = 8
"""Named entrances, in addition to the main one."""

MOST_HOSTS = 100
MOST_ROUTES = 100
MOST_PATHS = 1000
"""Paths in one Ingress. More would exceed LARGEST_OBJECT anyway, but this check is cheaper."""

LONGEST_LIST = 32 * 1024
"""Characters of ingress/routes."""

MOST_YAML_NODES = 1000
"""100 routes have 901 nodes: the list, and for each route a mapping with four keys and four values."""

MOST_LEFT_BEHIND = 500
"""Controller annotations that an object may lack. Matching each key against the vocabulary takes time."""

MOST_OBJECTS = 27
"""Objects of one Service: three for each of nine entrances, such as an HTTPRoute, its redirect and a ListenerSet. No
real Ingress that we have seen needs more than two HTTPRoutes. Metacontroller writes objects one by one: on two cores,
20 Services with 18 changed objects each hold up other Services for three seconds."""

LARGEST_OBJECT = 100_000
"""Bytes of an object as JSON. Metacontroller stores this JSON in an annotation of the object, beside the copied ones.
The API server rejects objects with more than 262,144 bytes of annotations."""

LARGEST_ANSWER = 500_000
"""Bytes of all objects of one Service. More wouldn't fit in a sync request, which contains each object twice."""

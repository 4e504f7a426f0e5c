"""The bounds: how much one Service may request. More is refused before it costs other Services anything."""

MOST_ENTRANCES = 8
"""Named entrances, beside the main one."""

MOST_HOSTS = 100
MOST_ROUTES = 100
MOST_PATHS = 1000
"""Paths of one Ingress. With more, it would be too large anyway, but this check is cheaper."""

LONGEST_LIST = 32 * 1024
"""Characters of ingress/routes."""

MOST_YAML_NODES = 1000
"""100 routes have 901: the list, and for each route a mapping with four keys and four values."""

MOST_LEFT = 500
"""Annotations for controllers that the objects may lack. Each is searched for fragments of protection."""

MOST_OBJECTS = 27
"""Objects of one Service: three for each of nine entrances, such as an HTTPRoute, its redirect and a ListenerSet. No
real Ingress that we have seen needs more than two HTTPRoutes. Metacontroller writes objects one by one: on two cores,
20 Services with 18 changed objects each hold up other Services for three seconds."""

LARGEST_OBJECT = 100_000
"""Bytes of an object as JSON. Metacontroller stores it in an annotation of the object, beside the copied ones, and the
API server refuses more than 262,144 bytes of annotations in all, at every try."""

LARGEST_ANSWER = 500_000
"""Bytes of all objects of one Service. More wouldn't fit in a sync request, which has each object twice."""

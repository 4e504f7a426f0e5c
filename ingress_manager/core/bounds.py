"""The bounds: how much one Service may request. More is refused, before it costs other Services anything."""

MOST_ENTRANCES = 8
"""Entrances with a name. There could be thousands."""

MOST_HOSTS = 100
MOST_ROUTES = 100
MOST_PATHS = 1000
"""Paths of one Ingress. One with more would be refused for its size anyway, but only after it was made."""

LONGEST_LIST = 32 * 1024
"""Characters of ingress/routes."""

MOST_YAML_NODES = 1000
"""100 routes have 901: the list, and for each route a mapping with four keys and four values."""

MOST_LEFT = 500
"""Controller annotations that the objects may lack. Each is looked up, to see whether it protects."""

MOST_OBJECTS = 27
"""Objects of one Service: three for each of nine entrances, such as an HTTPRoute, its redirect and a ListenerSet. No
real Ingress that we have seen needs more than two HTTPRoutes. Metacontroller writes objects one by one while other
Services wait: three seconds on two cores when 20 Services with 18 objects change at once."""

LARGEST_OBJECT = 100_000
"""Bytes of an object as JSON. Metacontroller stores this JSON as an annotation of the object, beside the annotations
that we copy. The API server takes 262,144 bytes of annotations in all; it would refuse a larger object at every try."""

LARGEST_ANSWER = 500_000
"""Bytes of all objects of one Service. Every request returns each of them, with its copy: more would not fit."""

"""The bounds: how much one Service may ask for. What is beyond them is a refusal, before it costs others anything."""

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
"""Annotations meant for a controller that what we make may lack: whether each protects is looked up."""

MOST_OBJECTS = 27
"""Of one Service: three for each of nine entrances, such as an HTTPRoute, its redirect and a ListenerSet. No Service of
a real Ingress that we have seen would have more than two HTTPRoutes. Metacontroller writes them one after the other,
and other Services wait meanwhile: three seconds on two cores when 20 Services with 18 objects change at once."""

LARGEST_OBJECT = 100_000
"""Bytes of an object as JSON. Metacontroller stores this JSON as an annotation of the object, beside the annotations
that we copy. The API server takes 262,144 bytes of annotations in all; it would refuse a larger object at every try."""

LARGEST_ANSWER = 500_000
"""Bytes of all objects of one Service. Each comes back with every request, with its copy: larger ones would not fit."""

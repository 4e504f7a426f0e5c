"""The bounds: how much one Service may request. A Service that requests more is refused before it delays others."""

MOST_ENTRANCES = 8  # named entrances, in addition to the main one
MOST_HOSTS = 100  # in ingress/host
MOST_ROUTES = 100  # in ingress/routes
MOST_PATHS = 1000  # in one Ingress; more could exceed LARGEST_OBJECT, and counting is cheaper
LONGEST_LIST = 32 * 1024  # characters of ingress/routes
MOST_YAML_NODES = 1000  # 100 routes have 901: the list, and for each a mapping with four keys and four values
MOST_LEFT_BEHIND = 500  # controller annotations that an object may lack; matching their keys takes time

MOST_OBJECTS = 27
"""The most objects per Service: nine entrances with an HTTPRoute, its redirect and a ListenerSet each. More would delay
other Services: on two cores, Metacontroller needs three seconds to write 18 objects for each of 20 Services."""

LARGEST_OBJECT = 100_000
"""Bytes of an object as JSON. Metacontroller stores this JSON in an annotation, beside the copied ones. The API
server rejects objects with more than 262,144 bytes of annotations."""

LARGEST_ANSWER = 500_000
"""Bytes of all objects of one Service. A sync request, whose size is limited, contains each object twice."""

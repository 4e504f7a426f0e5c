"""ingress-manager keeps an Ingress for each annotated Service. This package is the library and the command line."""

__version__ = "0.1.0"

"""ingress-manager: annotate a Service; get an Ingress that stays right. The library, and the program for people."""

__version__ = "0.1.0"

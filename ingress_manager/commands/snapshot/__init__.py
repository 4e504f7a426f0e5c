"""The snapshot: what a command read from a cluster or files, and what is desired for each Service. Pure.

Each module knows only those above it:

    items           objects that know their file and line, and messages about them
    managed         what makes an object ingress-manager's
    objects         Ingresses, HTTPRoutes and ListenerSets, with typed fields
    services        Services with their observed and desired objects: the Snapshot
    surroundings    IngressClasses, Gateways, EndpointSlices and Secrets, and what controllers say

Beside them: certificates, drift, events.
"""

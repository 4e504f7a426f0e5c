"""The core: what becomes of a Service. Pure: no I/O, no clock, no environment, no log.

Start reading at `decide`: it holds the whole flow on one page. Data moves one way, through a module for each step:

    decide          calls the steps below
      annotations   annotations of the Service → `Requested`: what its owner asks for, by which entrance
      exposure      that, the ports and the policy → `Exposure`: class, TLS, and what is copied; by `rules`, hosts,
                    paths and ports; by `routing`, what HTTPRoutes say; by `protection`, what must not be lost. Each
                    decides by one `basis`
      outputs       exposure → Ingress, HTTPRoutes, ListenerSets
      forbidden     whether what was made earlier may stand, by the same limits

They stand on

    kubernetes      the types: Services, and what is made for them
    policy          the types of the settings; `effective`: what of them holds for one Service, limits among it
    copying         which annotations are copied
    vocabulary      what annotations of controllers do: what protects, what HTTPRoutes say, too, and what only tunes
    bounds          how much one Service may ask for
    errors          what a problem and a refusal are, and every reason of one
    syntax, text    what a host, a path or a name may be; how a text is shown to people

`settings` reads the policy from the text of the administrator's file, with `strict_yaml` and `shape`.

Its words:

    entrance        a way to reach a Service, with an Ingress of its own: that of ingress/…, of internal.ingress/…
    observed        what Metacontroller says was made for the Service, and is there now
    desired         what should be there instead
    forbidden       of what is observed: what today's limits don't let stand. It is removed first
    profile         a word of the settings that fills in what annotations leave out
    fingerprint     what a profile did to an object when it was made, as a short hash: whether it does the same today
    claim           a host and path at a place, which no two entrances of a Service may have
    loss            an annotation that doesn't reach what is made: it protects, or changes the answer
"""

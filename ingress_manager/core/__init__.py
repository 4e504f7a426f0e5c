"""The core: what becomes of a Service. Pure: no I/O, no clock, no environment, no log.

Start reading at `decide`: it holds the whole flow on one page. Data moves one way, through a module for each step:

    decide          calls the steps below
      annotations   annotations of the Service → what its owner asks for; `entrances`: for each way to reach it
      exposure      that, the ports and the policy → exposure: class, TLS, and what is copied; by `rules`, hosts and
                    paths; by `routing` and `redirect`, what HTTPRoutes say; by `protection`, what must not be lost.
                    Each decides by one `basis`
      claims        whether two entrances would answer for the same host and path
      outputs       exposure → Ingress, HTTPRoutes, ListenerSets
      forbidden     whether what was made earlier may stand, by the same limits

They stand on

    kubernetes      the types: Services, and what is made for them
    policy          the types of the settings; `namespace_policy`: what of them holds for one Service, limits among it
    ports, copying  which port serves HTTP; which annotations are copied
    vocabulary      what annotations of controllers do: what protects, what HTTPRoutes say, too, and what only tunes
    errors          what a problem and a refusal are, and every reason of one
    syntax, text    what a host, a path or a name may be; how a text is shown to people

`settings` reads the policy from the text of the administrator's file, with `strict_yaml` and `shape`.
"""

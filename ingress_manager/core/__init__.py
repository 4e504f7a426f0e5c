"""The core: what becomes of a Service. Pure: no I/O, no clock, no environment, no log.

Start reading at `decide`: it holds the whole flow on one page. Data moves one way, through a module for each step:

    decide          calls the three steps below
      annotations   annotations of the Service → what its owner asks for
      exposure      that, ports and policy → exposure: hosts, paths, class and TLS
      outputs       exposure → Ingress, HTTPRoutes

`settings` reads the policy from the text of the administrator's file.
"""

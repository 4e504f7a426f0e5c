"""The benchmark: it measures what users experience, in one run, and shows each figure beside what it has to reach.

| module       | what it measures                                                                              |
|--------------|-----------------------------------------------------------------------------------------------|
| `core`       | the core alone: the cost of an answer, and what the worst inputs cost                         |
| `commands`   | what a person waits for who lets a command decide over a whole cluster                        |
| `hook`       | the hook as it is served: the cost of a request, and an answer beside connections that hang   |
| `cluster`    | the order of what is measured on a real API server, with Metacontroller: the three below      |
| `catch_up`   | how fast existing Services get their Ingresses, against plain creates of the same Ingresses   |
| `events`     | what an event costs: of a stranger's Ingress, a new Service, a new label                      |
| `resyncs`    | how long a change waits while other Services are resynced                                     |
| `admission`  | what the webhook costs a create                                                               |


`load` makes the Services, `changes` changes them, `client` makes the requests, and `metrics` reads the hook's; `run`
shows what is measured. `--help` says how to run it. Nothing else may run on the machine meanwhile.
"""

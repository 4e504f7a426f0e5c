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
| `throughput` | requests through the gateway against the same to the backend, and with 1,000 Ingresses more   |

`python -m bench.soak`, which takes half an hour, measures in `scale` a large cluster that changes all the time and
whose parts fail, and in `abuse` the hook that is sent the worst requests while others work.

`load` makes the Services, `changes` changes them, `client` makes the requests, and `metrics` reads the hook's; `run`
shows what is measured. `--help` says how to run each of the two. Nothing else may run on the machine meanwhile.
"""

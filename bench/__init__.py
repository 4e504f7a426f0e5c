"""The benchmark: it measures what users experience, in one run, and shows each figure beside what it has to reach.

| module     | what it measures                                                                                |
|------------|-------------------------------------------------------------------------------------------------|
| `core`     | the core alone: the cost of an answer, and what the worst inputs cost                           |
| `commands` | what a person waits for who lets a command decide over a whole cluster                          |
| `hook`     | the hook as it is served: the cost of a request                                                 |
| `cluster`  | on a real API server, with Metacontroller: how fast existing Services get their Ingresses       |
|            | (`catch_up`), against plain creates of the same Ingresses; what an event of a stranger's costs  |

`load` makes the Services, `client` makes the requests, and `figures` shows what is measured. `--help` says how to run
it. Nothing else may run on the machine meanwhile.
"""

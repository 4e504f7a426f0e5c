"""Plans: what the commands `adopt`, `release` and `uninstall` do to a cluster, and in which order.

A plan is a list of steps, and a step (`plan.Step`) says

- what must hold before: all steps before it were done and seen. Where its command names a resourceVersion, the API
  server refuses it when somebody has changed the object since it was read;
- what is done: one command, as its arguments;
- what must be seen after it, and for how long it is waited for;
- how to take it back.

`carrying_out.carry_out` runs a plan, and `plan.listed` shows it to a person instead. `steps` makes the steps that
several commands need, and `deployers` tells which tools must hear of a change.
"""

"""The demo: the story told to a person, each step with what was done, what happened and how long it took."""

import contextlib
import time

from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from devcluster.api import NAMESPACES
from devcluster.cluster import DevCluster
from devcluster.errors import DevClusterError
from devcluster.story import Stage, Step, steps_for

NAMESPACE = "demo"
INDENT = 17


def tell(cluster: DevCluster, out: Console) -> bool:
    """Play the story in a namespace of its own and tell it to `out`. Return whether every step had its effect."""
    cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    with contextlib.closing(Stage(cluster.api, NAMESPACE, cluster.gateway, cluster.ingress_class)) as stage:
        steps = steps_for(stage)
        for number, step in enumerate(steps, start=1):
            try:
                seen = step.play(stage)
            except DevClusterError as failure:
                out.print(line("✘", "red", number, step, "failed"), soft_wrap=True)
                out.print(Padding(Text(str(failure), style="red"), (0, 0, 1, INDENT), expand=False))
                out.print(f"Step {number} of {len(steps)} failed; the story ends here.", style="bold red")
                return False
            took = f"{(time.perf_counter() - stage.acted_at) * 1000:.0f} ms"
            out.print(line("✔", "green", number, step, took), soft_wrap=True)
            if seen.startswith("apiVersion:"):
                out.print(
                    Padding(
                        Syntax(seen, "yaml", theme="ansi_dark", background_color="default"),
                        (0, 0, 1, INDENT),
                        expand=False,
                    )
                )
            elif seen:
                out.print(Padding(Text(seen, style="dim"), (0, 0, 0, INDENT), expand=False))
    out.print(f"\nAll {len(steps)} steps had their effect.", style="bold green")
    return True


def line(mark: str, colour: str, number: int, step: Step, took: str) -> Text:
    """Return the line that tells one step."""
    return Text.assemble(
        (mark, colour), f" {number:2}.", (f"{took:>10}  ", "cyan"), (step.done, "bold"), f" → {step.happens}"
    )

"""The commands of the pages of `adopt` and `release`, as they are written."""

from devcluster.api import INGRESSES, NAMESPACES, SERVICES
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from ingress_manager.core.settings import FILE_VARIABLE
from tests.e2e.objects import namespace
from tests.e2e.shell import commands_of, sh
from tests.e2e.test_adopt import create_pair, is_ours, settle


def test_an_ingress_moves_in_and_out_again(cluster: DevCluster) -> None:
    namespace(cluster.api, "team-a")
    stage = Stage(cluster.api, "team-a", ingress_class=cluster.ingress_class)
    before = create_pair(stage, "shop", "shop", stage.ingress_class or "nginx")
    for name, moved_in in (("adopt", True), ("release", False)):
        commands = commands_of(f"docs/commands/{name}.md")
        assert len(commands) > 2
        for command in commands:
            ended = sh(cluster.control_plane, command, environment={FILE_VARIABLE: str(cluster.settings_file)})
            assert ended.stdout.strip() != ""
        settle(stage)
        now = stage.api.get(INGRESSES, "shop", "team-a")
        assert now is not None
        assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
        assert is_ours(now) is moved_in
    stage.api.delete(SERVICES, "shop", "team-a")
    cluster.api.delete(NAMESPACES, "team-a")

"""What the 404 page says, in each language. What stands between `backticks` is code."""

from typing import NamedTuple


class Texts(NamedTuple):
    """All that is said in one language."""

    title: str
    asked: str
    """Before the address that was asked for."""

    visitor: str
    """The heading of what a visitor can do."""

    address: str
    start: str
    """The link to the site's start page."""

    link: str
    owner: str
    """The heading of what the owner of the Service can do."""

    events: str
    annotations: str
    ingresses: str


LANGUAGES = {
    "en": Texts(
        title="There is no page here",
        asked="Nothing is served at this address:",
        visitor="For visitors",
        address="Check the address. Is every letter right?",
        start="Go to the site's start page",
        link="Ask whoever gave you the link.",
        owner="For the owner of the Service",
        events="`kubectl describe service NAME` says under Events what is wrong.",
        annotations='The annotation `ingress/http` has to be `"true"`, and `ingress/host` and `ingress/path` have to '
        "match this address.",
        ingresses="`kubectl get ingress` lists the hosts that are served.",
    ),
    "de": Texts(
        title="Hier gibt es keine Seite",
        asked="Unter dieser Adresse ist nichts zu finden:",
        visitor="Für Besucherinnen und Besucher",
        address="Prüfen Sie die Adresse. Stimmt jeder Buchstabe?",
        start="Zur Startseite",
        link="Fragen Sie, wer Ihnen den Link gegeben hat.",
        owner="Für alle, denen der Service gehört",
        events="`kubectl describe service NAME` sagt unter Events, was nicht stimmt.",
        annotations='Die Annotation `ingress/http` muss `"true"` sein, und `ingress/host` und `ingress/path` müssen zu '
        "dieser Adresse passen.",
        ingresses="`kubectl get ingress` zeigt, welche Hosts bedient werden.",
    ),
    "zh": Texts(
        title="此处没有网页",
        asked="以下地址没有提供任何内容：",
        visitor="如果您是访客",
        address="请检查地址，看看有没有输错。",
        start="前往网站首页",
        link="请询问提供此链接的人。",
        owner="如果您是此 Service 的所有者",
        events="`kubectl describe service NAME` 会在 Events 中说明问题所在。",
        annotations='注解 `ingress/http` 必须为 `"true"`，`ingress/host` 和 `ingress/path` 必须与此地址相符。',
        ingresses="`kubectl get ingress` 会列出已对外提供的主机。",
    ),
}
"""By language tag. The first one is for those who ask for none of them."""

"""The types of what a person wrote: a field that is null is one that was left out, as it is to the API server."""

from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.view.typed import as_service, as_spec


def ingress(rules: str, more: str = "") -> str:
    return (
        f"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: shop}}\nspec: {{rules: {rules}{more}}}\n"
    )


def test_a_field_of_an_ingress_that_is_null_was_left_out() -> None:
    backend = "pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}"
    [with_nulls] = read(ingress(f"[{{host: , http: {{paths: [{{path: , {backend}}}]}}}}]", ", tls: null")).items
    [without] = read(ingress(f"[{{http: {{paths: [{{{backend}}}]}}}}]")).items
    assert as_spec(with_nulls) == as_spec(without)


def test_a_field_that_has_to_be_there_is_missing_when_it_is_null() -> None:
    [item] = read(ingress("[{http: {paths: [{pathType: null, backend: {}}]}}]"), "shop.yaml").items
    assert [str(message) for message in as_spec(item)] == [  # type: ignore[union-attr]
        "shop.yaml:4: default/shop: is no valid Ingress: spec.rules[0].http.paths[0].pathType is missing"
    ]


def test_an_annotation_that_is_null_is_still_no_text() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: shop, annotations: {ingress/http: }}\nspec: {type: }\n"
    [item] = read(text).items
    assert [message.sentence for message in as_service(item)] == [  # type: ignore[union-attr]
        "ingress/http: must be text: put the value in quotes"
    ]

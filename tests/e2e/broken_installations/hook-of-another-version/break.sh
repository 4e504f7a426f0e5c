kubectl patch deployment ingress-manager --namespace=ingress-manager --patch='{"spec": {"template": {"metadata": {"labels": {"app.kubernetes.io/version": "0.0.9"}}}}}'

kubectl patch decoratorcontroller ingress-manager --type=merge --patch='{"spec": {"hooks": {"finalize": {"webhook": {"url": "http://ingress-manager.ingress-manager/sync"}}}}}'

kubectl patch decoratorcontroller ingress-manager --type=merge --patch='{"spec": {"resyncPeriodSeconds": 30}}'

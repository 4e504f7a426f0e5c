kubectl patch validatingwebhookconfiguration ingress-manager --type=json --patch='[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]'
# The API server takes a moment to know.
while kubectl create --dry-run=server --filename=- 2>&1 <<END | grep --quiet Warning
apiVersion: v1
kind: Service
metadata: {name: asked, namespace: default, annotations: {ingress/http: "yes"}}
spec: {ports: [{port: 80}]}
END
do sleep 0.1; done

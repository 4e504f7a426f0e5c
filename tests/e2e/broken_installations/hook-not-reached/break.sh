kubectl create --filename=- <<END
apiVersion: v1
kind: Event
metadata: {name: shop, namespace: default, labels: {broken: "true"}}
involvedObject: {apiVersion: v1, kind: Service, name: shop, namespace: default}
type: Warning
reason: SyncError
message: "Sync error: sync hook failed (version=v2): http error: dial tcp: connection refused"
lastTimestamp: $(date --utc +%Y-%m-%dT%H:%M:%SZ)
END

// The module is only downloaded, for the CRDs that it holds; nothing is built from it. It has a go.mod of its own, because
// every program of the control plane is built anew when the other go.mod changes.
module ingress-manager/devcluster/gatewayapi

go 1.26.0

// v1.7 needs Go 1.27.
require sigs.k8s.io/gateway-api v1.6.3

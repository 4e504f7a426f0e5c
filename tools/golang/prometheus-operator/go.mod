// The module is only downloaded, for the CRDs that it holds: tests/e2e/test_monitoring.py.
module ingress-manager/tools/golang/prometheus-operator

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.93.0

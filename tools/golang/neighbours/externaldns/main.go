// Externaldns tells which DNS records external-dns makes of a cluster.
//
// Its options are external-dns' own, and so is all that decides: sources, plan, registry and provider. This is its
// controller's RunOnce, without the providers of real zones, which are hundreds of packages. Each line of standard
// input is answered by a round, and by the records that then are in the provider's memory, as a line of JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns/validation"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider/inmemory"
	"sigs.k8s.io/external-dns/registry"
	"sigs.k8s.io/external-dns/registry/noop"
	"sigs.k8s.io/external-dns/source"
	"sigs.k8s.io/external-dns/source/annotations"
	"sigs.k8s.io/external-dns/source/wrappers"
)

func main() {
	ctx := context.Background()
	config := externaldns.NewConfig()
	must(config.ParseFlags(os.Args[1:]))
	must(validation.ValidateConfig(config))
	annotations.SetAnnotationPrefix(config.AnnotationPrefix)
	sources := value(source.NewSourceConfig(config))
	names := value(wrappers.Build(ctx, sources))
	every := endpoint.NewDomainFilter(nil)
	records := value(noop.New(config, value(inmemory.New(ctx, config, every))))
	answer := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		round(ctx, config, names, records)
		must(answer.Encode(value(records.Records(ctx))))
	}
}

func round(ctx context.Context, config *externaldns.Config, names source.Source, records registry.Registry) {
	wanted := value(records.AdjustEndpoints(value(names.Endpoints(ctx))))
	changes := (&plan.Plan{
		Policies:       []plan.Policy{plan.Policies[config.Policy]},
		Current:        value(records.Records(ctx)),
		Desired:        wanted,
		DomainFilter:   endpoint.MatchAllDomainFilters{records.GetDomainFilter()},
		ManagedRecords: config.ManagedDNSRecordTypes,
		OwnerID:        records.OwnerID(),
	}).Calculate().Changes
	if changes.HasChanges() {
		must(records.ApplyChanges(ctx, changes))
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func value[T any](result T, err error) T {
	must(err)
	return result
}

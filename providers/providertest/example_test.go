package providertest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
)

// A cloud whose second create of "web" fails although the resource was made.
func ExampleCloud() {
	cloud := providertest.NewCloud(providertest.Options{
		Seed: 7, MaxLatency: time.Millisecond,
		Failures: []providertest.Failure{{Method: providers.MethodCreate, Name: "web", Nth: 2, Applied: true}},
	})
	p := cloud.Provider("simple")
	web := urn.New("dev", "shop", "", "simple:index:Thing", "web")
	request := providers.CreateRequest{
		URN: web, Type: web.Type(), Properties: property.NewMap(map[string]property.Value{"size": property.Number(1)}),
	}
	for range 2 {
		made, err := p.Create(context.Background(), request)
		fmt.Printf("%q %v\n", made.ID, err)
	}
	records, _ := cloud.Records()
	for _, r := range records {
		fmt.Println(r.ID)
	}
	// Output:
	// "web-0114063f-1" <nil>
	// "" the cloud refused to create web
	// web-0114063f-1
	// web-0114063f-2
}

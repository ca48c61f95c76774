// Command gopolicies is a policy pack written with the SDK for Go.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/policyx"
)

func main() {
	if err := policyx.Main(pack); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pack(*pulumi.Context) (policyx.PolicyPack, error) {
	return policyx.NewPolicyPack("go-rules", semver.Version{Minor: 4}, policyx.EnforcementLevelMandatory, []policyx.Policy{
		policyx.NewResourceRemediationPolicy("tagged", policyx.ResourceRemediationPolicyArgs{
			Description: "Things have tags.", RemediateResource: tag,
		}),
		policyx.NewResourceValidationPolicy("limited-size", policyx.ResourceValidationPolicyArgs{
			Description: "Things are small.", EnforcementLevel: policyx.EnforcementLevelMandatory, ValidateResource: limit,
		}),
	})
}

func tag(_ context.Context, args policyx.ResourceRemediationArgs) (*property.Map, error) {
	if args.Resource.Type != "simple:index:Thing" {
		return nil, nil
	}
	tagged := args.Resource.Properties.Set("tag", property.New("by policy"))
	return &tagged, nil
}

func limit(_ context.Context, args policyx.ResourceValidationArgs) error {
	if size := args.Resource.Properties.Get("size"); size.IsNumber() && size.AsNumber() > 2 {
		args.Manager.ReportViolation(fmt.Sprintf("%s is %v large", args.Resource.Name, size.AsNumber()), args.Resource.URN)
	}
	return nil
}

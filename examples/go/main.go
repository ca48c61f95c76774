// Command go declares the pages of a web site as files, and the password of its owner.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi-local/sdk/go/local"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() { pulumi.Run(declare) }

func declare(ctx *pulumi.Context) error {
	title := config.Require(ctx, "title")
	count := config.RequireInt(ctx, "pages")

	// The name is made once, and kept in the state.
	domain, err := random.NewRandomPet(ctx, "domain", nil)
	if err != nil {
		return err
	}
	password, err := random.NewRandomPassword(ctx, "password", &random.RandomPasswordArgs{Length: pulumi.Int(20)})
	if err != nil {
		return err
	}

	host := pulumi.Sprintf("%s.example", domain.ID())
	var files pulumi.StringArray
	for n := range count {
		page, err := local.NewFile(ctx, fmt.Sprintf("page-%d", n), &local.FileArgs{
			Filename:       pulumi.Sprintf("site/page-%d.html", n),
			Content:        pulumi.Sprintf("<title>%s</title>\n<h1>Page %d of %s</h1>\n", title, n, host),
			FilePermission: pulumi.String("0644"),
		})
		if err != nil {
			return err
		}
		files = append(files, page.Filename)
	}

	ctx.Export("url", pulumi.Sprintf("https://%s", host))
	ctx.Export("files", files)
	ctx.Export("ownersPassword", password.Result)
	return nil
}

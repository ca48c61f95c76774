package tls

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/urn"
)

// Name is the package's name.
const Name = "tls"

// Package describes the package.
func Package(native.Options) native.Package { return at(time.Now) }

// at is like Package, with a clock of its own.
func at(now func() time.Time) native.Package {
	p := &settings{}
	return native.Package{
		Name: Name, Version: "5.6.1", Doc: "Keys and certificates.",
		Config: []native.Field{{
			Name: "proxy", Doc: "The proxy through which getCertificate asks.",
			Type: native.Record("tls:index/ProviderProxy:ProviderProxy",
				flag("fromEnv", "Whether to use the proxy that the environment names."),
				native.Field{Name: "password", Type: native.Of(native.KindString), Secret: true},
				text("url", ""), text("username", "")),
		}},
		Configure: func(_ context.Context, config native.Values) error { p.proxy = config.Object("proxy"); return nil },
		Resources: []native.Resource{privateKey(), selfSigned(now), request(), locallySigned(now)},
		Functions: []native.Function{getPublicKey(), p.getCertificate()},
	}
}

func token(name string) urn.Type {
	return urn.Type("tls:index/" + string(name[0]|0x20) + name[1:] + ":" + name)
}

func text(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindString), Doc: doc}
}

func flag(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindBoolean), Doc: doc}
}

func number(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindInteger), Doc: doc}
}

func texts(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.ArrayOf(native.Of(native.KindString)), Doc: doc}
}

func needed(f native.Field) native.Field { f.Required = true; return f }

func replacing(f native.Field) native.Field { f.Replace = true; return f }

func secret(f native.Field) native.Field { f.Secret = true; return f }

func byDefault(f native.Field, v property.Value) native.Field { f.Default = v; return f }

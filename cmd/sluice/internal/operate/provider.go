package operate

import (
	"context"
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// PackageSettings returns the settings of a package in the stack: those of its default provider. Their secrets are masked from then on.
func (j *Job) PackageSettings(pkg string) property.Map {
	m := map[string]property.Value{}
	for k, v := range j.config {
		namespace, name, _ := strings.Cut(k, ":")
		if namespace != pkg {
			continue
		}
		m[name] = property.String(v.Text)
		if v.Secret {
			m[name] = property.Secret(m[name])
		}
	}
	settings := property.NewMap(m)
	j.known.Learn(settings)
	return settings
}

// Learn masks the secrets in properties from now on.
func (j *Job) Learn(m property.Map) { j.known.Learn(m) }

// Beforehand calls f before the operation, with the variables and files of the environments of the stack. Its error contains no secret.
func (j *Job) Beforehand(ctx context.Context, f func(context.Context) error) error {
	restore, err := j.environments.Apply()
	if err != nil {
		return err
	}
	defer restore()
	j.learnCredentials()
	return j.masks().Error(f(ctx))
}

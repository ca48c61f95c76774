package conversion

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// projectOf returns the project file of a program in PCL as JSON, and the name of the project: chosen if it is set, else
// the name in the file, else otherwise.
func projectOf(folder, chosen, otherwise string) (text, name string, err error) {
	fields := map[string]any{}
	for _, file := range projectFiles {
		data, err := os.ReadFile(filepath.Join(folder, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		if err := yaml.Unmarshal(data, &fields); err != nil {
			return "", "", fmt.Errorf("the project file %s of the converted program: %w", file, err)
		}
		break
	}
	if fields == nil {
		fields = map[string]any{} // the file is empty
	}
	own, _ := fields["name"].(string)
	name = cmp.Or(chosen, own, otherwise)
	fields["name"] = name
	encoded, err := json.Marshal(fields)
	return string(encoded), name, err
}

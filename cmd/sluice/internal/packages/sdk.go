package packages

import (
	"strings"
)

// Languages are the languages of generated SDKs if none is given.
func Languages() []string { return []string{"dotnet", "go", "java", "nodejs", "python"} }

// Language returns the name of the runtime for a language, which has several names.
func Language(name string) string {
	switch strings.ToLower(name) {
	case "typescript", "javascript", "node", "node.js":
		return "nodejs"
	case "golang":
		return "go"
	case "csharp", "c#", "fsharp", "visualbasic", ".net":
		return "dotnet"
	}
	return strings.ToLower(name)
}

// SDKRequest describes an SDK to generate.
type SDKRequest struct {
	Language string
	Folder   string // the final folder of the SDK, which is replaced
	Local    bool   // it is used where it is, and not published
	Overlays string // a folder with a folder of files for each language; "" for none
}

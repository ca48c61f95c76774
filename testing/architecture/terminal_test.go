package architecture

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// terminals are the files that may use the streams of a process: the terminal of each command line. All other code reads answers and prints through
// them, so that no question is asked while a screen is drawn, and no foreign text reaches a terminal unchanged.
var terminals = []string{"cmd/sluice/internal/terminal/", "fleet/cmd/sluice-fleet/streams.go"}

// ofCommands reports whether a file belongs to a program for users, or to the library in it.
func ofCommands(file string) bool {
	for _, other := range []string{
		"bench/", "docs/", "examples/", "testing/", "providers/internal/", // programs of their own, for tests and measurements
	} {
		if strings.HasPrefix(file, other) {
			return false
		}
	}
	return !slices.ContainsFunc(terminals, func(prefix string) bool { return strings.HasPrefix(file, prefix) })
}

// streams are the identifiers that lead to the streams of a process, by package.
var streams = map[string][]string{
	"os":      {"Stdin", "Stdout", "Stderr", "NewFile"},
	"fmt":     {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"term":    {"ReadPassword", "MakeRaw", "NewTerminal", "Restore", "SetState"},
	"tea":     {"NewProgram"},
	"log":     {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Default", "Writer"},
	"slog":    {"Default", "Info", "Warn", "Error", "Debug", "InfoContext", "WarnContext", "ErrorContext", "DebugContext"},
	"syscall": {"Stdin", "Stdout", "Stderr"},
	"unix":    {"Stdin", "Stdout", "Stderr"},
}

// ofCobra are the methods of cobra's commands that read or print.
var ofCobra = []string{"InOrStdin", "OutOrStderr", "ErrOrStderr", "Print", "Println", "Printf", "PrintErr", "PrintErrln", "PrintErrf"}

func TestOnlyTheTerminalReadsAndPrints(t *testing.T) {
	seen := map[string]bool{}
	code(t, func(file string, line int, n ast.Node) {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of, is := n.X.(*ast.Ident)
			if !is {
				return
			}
			found := slices.Contains(streams[of.Name], n.Sel.Name) || of.Name == "cmd" && slices.Contains(ofCobra, n.Sel.Name)
			switch {
			case !found:
			case ofCommands(file):
				t.Errorf("%s:%d: %s.%s: only package terminal reads answers and prints", file, line, of.Name, n.Sel.Name)
			default:
				seen[of.Name+"."+n.Sel.Name] = true
			}
		case *ast.CallExpr:
			if f, is := n.Fun.(*ast.Ident); is && f.Name == "println" && ofCommands(file) {
				t.Errorf("%s:%d: %s: only package terminal prints", file, line, f.Name)
			}
		case *ast.BasicLit:
			for _, device := range []string{`"/dev/tty"`, `"/dev/stdin"`, `"/dev/stdout"`, `"/dev/stderr"`, `"CONIN$"`, `"CONOUT$"`} {
				if n.Value == device && ofCommands(file) {
					t.Errorf("%s:%d: %s: only package terminal opens terminals", file, line, device)
				}
			}
		}
	})
	for _, known := range []string{"os.Stdin", "os.Stdout", "os.Stderr", "tea.NewProgram"} {
		if !seen[known] {
			t.Errorf("nothing uses %s: the test looks for the wrong thing", known)
		}
	}
}

// The doors that do not clean texts, and the files that use them because they clean the texts themselves, or print for programs.
var doors = map[string][]string{
	"Styled":   {"cmd/sluice/internal/operate/", "cmd/sluice/internal/plugins/progress.go", "cmd/sluice/policy_analyze.go", "cmd/sluice/why.go"},
	"Commands": {"cmd/sluice/internal/operate/screen.go"},
	"Lend":     {"cmd/sluice/fleet_windows.go", "cmd/sluice/plugin_run.go", "cmd/sluice/state_edit.go"},
}

func TestFewPrintWhatTheTerminalDoesNotClean(t *testing.T) {
	code(t, func(file string, line int, n ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is || !strings.HasPrefix(file, "cmd/sluice/") || strings.HasPrefix(file, "cmd/sluice/internal/terminal/") {
			return
		}
		method, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return
		}
		users, is := doors[method.Sel.Name]
		if _, member := method.X.(*ast.SelectorExpr); !is || method.Sel.Name == "Commands" && !member || len(call.Args) > 0 && method.Sel.Name != "Lend" {
			return
		}
		if !slices.ContainsFunc(users, func(user string) bool { return strings.HasPrefix(file, user) }) {
			t.Errorf("%s:%d: %s: what is printed goes through Out or Err of the terminal, and data through Data", file, line, method.Sel.Name)
		}
	})
}

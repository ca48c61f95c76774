package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
	"github.com/rivo/uniseg"

	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/state"
)

// Query is a question with the values that its answer has. It is safe for concurrent use.
type Query struct {
	condition *expression
	columns   []*expression
	variables map[string]variable // by name
}

// Compile reads a question and the expressions of its columns. An error shows the place in the text.
func Compile(question string, columns []string) (*Query, error) {
	q := &Query{variables: map[string]variable{}}
	for _, v := range named() {
		q.variables[v.name] = v
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	if q.condition, err = compile(env, question); err != nil {
		return nil, fmt.Errorf("the question: %w", err)
	}
	if t := q.condition.result; !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the question gives a value of type %s, and must give true or false: compare it with something", cel.FormatCELType(t))
	}
	for _, text := range columns {
		if strings.TrimSpace(text) == "" {
			return nil, errors.New("one of the columns has no expression")
		}
		column, err := compile(env, text)
		if err != nil {
			return nil, fmt.Errorf("the column %s: %w", strings.TrimSpace(text), err)
		}
		q.columns = append(q.columns, column)
	}
	return q, nil
}

// Columns returns the texts of the columns.
func (q *Query) Columns() []string {
	texts := make([]string, len(q.columns))
	for i, c := range q.columns {
		texts[i] = strings.TrimSpace(c.text)
	}
	return texts
}

// Answer is the answer for one stack.
type Answer struct {
	Matches []Match
	// Hidden counts the resources for which the question depends on a secret that is not shown. They do not match.
	Hidden int
	// Faulty counts the resources to whose values the question cannot be applied, except those that only lack a value. They do not match.
	Faulty int
	Fault  string // of the first of them, with the place in the question
}

// Match is a resource for which the question is true.
type Match struct {
	Resource *state.Resource
	Provider Provider
	// Values are those of the columns, for JSON: nil, bool, int64, uint64, float64, string, []any or map[string]any. A value that does not exist is
	// nil. A value that depends on a secret that is not shown is the text "[secret]".
	Values []any
}

// Ask answers the question for the resources of a state, in their order. A nil snapshot has none. Without showSecrets, the secrets of the
// snapshot may be sealed.
func (q *Query) Ask(ctx context.Context, stack Stack, s *state.Snapshot, showSecrets bool) (Answer, error) {
	var a Answer
	if s == nil {
		return a, nil
	}
	providers := providersOf(s)
	for _, r := range s.Resources {
		subject := &subject{stack: stack, resource: r, provider: providers.of(r), showSecrets: showSecrets, variables: q.variables}
		result, err := q.condition.evaluate(ctx, subject)
		if ctx.Err() != nil {
			return a, context.Cause(ctx)
		}
		switch {
		case err != nil:
			if !isAbsence(err) {
				a.Faulty++
				if a.Fault == "" {
					a.Fault = q.condition.explain(err)
				}
			}
		case isHidden(result):
			a.Hidden++
		case result == types.True:
			m := Match{Resource: r, Provider: subject.provider, Values: make([]any, len(q.columns))}
			for i, c := range q.columns {
				if v, err := c.evaluate(ctx, subject); err == nil {
					m.Values[i] = plain(v)
				}
			}
			a.Matches = append(a.Matches, m)
		case !types.IsUnknown(result) && result != types.False:
			a.Faulty++
			if a.Fault == "" {
				a.Fault = fmt.Sprintf("it gives a value of type %s instead of true or false", result.Type().TypeName())
			}
		}
	}
	return a, nil
}

// expression is a compiled text.
type expression struct {
	text    string
	ast     *cel.Ast
	result  *cel.Type
	program cel.Program
}

// environment returns the language of questions: CEL with numbers of any kind comparable, optional values and functions of strings.
func environment() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), cel.Macros(hasMacro()),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals()),
	}
	for _, v := range named() {
		options = append(options, cel.Variable(v.name, v.kind))
	}
	return cel.NewEnv(options...)
}

func compile(env *cel.Env, text string) (*expression, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("there is no expression")
	}
	ast, issues := env.CompileSource(common.NewTextSource(text))
	if issues.Err() != nil {
		found := issues.Errors()
		return nil, errors.New(found[0].Message + place(text, found[0].Location))
	}
	program, err := env.Program(ast, cel.InterruptCheckFrequency(interruptEach), cel.CustomDecoratorV2(guarded))
	if err != nil {
		return nil, err
	}
	return &expression{text: text, ast: ast, result: ast.OutputType(), program: program}, nil
}

// interruptEach is the number of iterations of a comprehension between two looks at the context.
const interruptEach = 1000

func (e *expression) evaluate(ctx context.Context, s *subject) (ref.Val, error) {
	result, _, err := e.program.ContextEval(ctx, s)
	return result, err
}

// explain returns the text of an error of an evaluation, with its place.
func (e *expression) explain(err error) string {
	var at *types.Err
	if !errors.As(err, &at) {
		return err.Error()
	}
	return at.Error() + place(e.text, e.ast.NativeRep().SourceInfo().GetStartLocation(at.NodeID()))
}

// isAbsence reports whether an evaluation has ended because a key or an element does not exist. The library has no types for its errors.
func isAbsence(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "no such key") || strings.HasPrefix(text, "index out of bounds")
}

// SplitColumns splits a list of expressions at the commas that are not in brackets or texts.
func SplitColumns(list string) []string {
	var out []string
	var quote rune
	depth, start, escaped := 0, 0, false
	for i, r := range list {
		switch {
		case escaped:
			escaped = false
		case quote != 0:
			escaped = r == '\\'
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case slices.Contains([]rune("([{"), r):
			depth++
		case slices.Contains([]rune(")]}"), r):
			depth--
		case r == ',' && depth == 0:
			out = append(out, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(list[start:]))
}

// place returns the line of a text and below it a caret at a location, as the rest of a message.
func place(text string, at common.Location) string {
	lines := strings.Split(text, "\n")
	if at == nil || at.Line() < 1 || at.Line() > len(lines) || at.Column() < 0 {
		return ""
	}
	line := []rune(lines[at.Line()-1])
	before := printable.Line(string(line[:min(at.Column(), len(line))]))
	return fmt.Sprintf(", at line %d, character %d\n    %s\n    %s^", at.Line(), at.Column()+1, printable.Line(string(line)),
		strings.Repeat(" ", uniseg.StringWidth(before)))
}

package query

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// hasMacro returns has(a.b) in the form "b" in a. The library's own form has no result if the value of b is unknown, but a secret is there.
func hasMacro() cel.Macro {
	return cel.GlobalMacro(operators.Has, 1, func(e cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		if args[0].Kind() != ast.SelectKind {
			return nil, e.NewError(args[0].ID(), "has() takes a field, as in has(outputs.acl)")
		}
		s := args[0].AsSelect()
		return e.NewCall(operators.In, e.NewLiteral(types.String(s.FieldName())), s.Operand()), nil
	})
}

// guarded replaces the comparisons of an expression. The library compares an unknown value inside a list or an object as if it were equal to everything;
// a [guard] has no result then.
func guarded(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, is := i.(interpreter.InterpretableCall)
	if !is || len(call.Args()) != 2 {
		return i, nil
	}
	switch call.Function() {
	case operators.Equals, operators.NotEquals, operators.In:
		return &guard{call: call, left: call.Args()[0], right: call.Args()[1]}, nil
	}
	return i, nil
}

// guard is a comparison, or a look for an element.
type guard struct {
	call        interpreter.InterpretableCall
	left, right interpreter.InterpretableV2
}

// ID implements [interpreter.Interpretable].
func (g *guard) ID() int64 { return g.call.ID() }

// Eval implements [interpreter.Interpretable].
func (g *guard) Eval(a interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(a, g.Exec)
}

// Exec implements [interpreter.InterpretableV2].
func (g *guard) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	left := g.left.Exec(frame)
	if types.IsError(left) {
		return left
	}
	right := g.right.Exec(frame)
	if types.IsError(right) {
		return right
	}
	if g.call.Function() == operators.In {
		return g.look(left, right)
	}
	if u := types.MergeUnknowns(unknownIn(left), unknownIn(right)); u != nil {
		return u
	}
	equal := types.Equal(left, right)
	if g.call.Function() == operators.NotEquals {
		return types.Bool(equal != types.True)
	}
	return equal
}

// look returns whether a value is an element of a list, or a key of an object. An unknown element may be the value.
func (g *guard) look(value, in ref.Val) ref.Val {
	if u, is := in.(*types.Unknown); is {
		return u
	}
	u := unknownIn(value)
	if _, isList := in.(traits.Lister); isList {
		u = types.MergeUnknowns(u, unknownIn(in))
	}
	container, is := in.(traits.Container)
	if !is {
		return types.NewErrWithNodeID(g.ID(), "no such overload")
	}
	if found := container.Contains(value); u == nil || found == types.True && unknownIn(value) == nil {
		return found
	}
	return u
}

// unknownIn returns the unknown values in a value at any depth, nil if there are none.
func unknownIn(v ref.Val) *types.Unknown {
	var found *types.Unknown
	switch v := v.(type) {
	case *types.Unknown:
		return v
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			value, _ := v.Find(it.Next())
			found = types.MergeUnknowns(found, unknownIn(value))
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			found = types.MergeUnknowns(found, unknownIn(it.Next()))
		}
	}
	return found
}

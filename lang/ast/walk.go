package ast

// This file defines Walk, the one traversal of the tree.

// Walk calls f for n and, where f returns true, for the nodes below it, in textual order. It visits
// expressions and types inside values such as Ident, Par, Arg, Sub and Range, but not these values.
// n may be nil.
func Walk(n Node, f func(Node) bool) {
	if isNil(n) || !f(n) {
		return
	}
	switch n := n.(type) {
	case *File:
		walkStmts(n.Stmts, f)
	case *Block:
		walkStmts(n.Stmts, f)
	case *Param:
		Walk(n.Type, f)
		Walk(n.Default, f)
		Walk(n.In, f)
	case *TypeDef:
		Walk(n.Type, f)
	case *FnDecl:
		walkPars(n.Params, f)
		Walk(n.Result, f)
		Walk(n.Expr, f)
		Walk(n.Body, f)
	case *Stage:
		walkPars(n.Params, f)
		Walk(n.Result, f)
		Walk(n.Body, f)
	case *State:
		Walk(n.Type, f)
		Walk(n.Init, f)
	case *On:
		Walk(n.In, f)
		Walk(n.Body, f)
	case *Next:
		Walk(n.Expr, f)
	case *Chan:
		walkRanges(n.Ranges, f)
		Walk(n.Type, f)
		Walk(n.Expr, f)
		walkWith(n.With, f)
	case *For:
		walkRanges(n.Ranges, f)
		Walk(n.Body, f)
	case *Iterate:
		for _, c := range n.Carry {
			Walk(c.Type, f)
			Walk(c.Init, f)
		}
		Walk(n.Until, f)
		Walk(n.Times, f)
		walkWith(n.With, f)
		Walk(n.Body, f)
	case *Emit:
		Walk(n.Expr, f)
		Walk(n.To, f)
	case *Assert:
		Walk(n.Expr, f)
		Walk(n.Message, f)
	case *Bind:
		Walk(n.Type, f)
		Walk(n.Expr, f)
	case *Send:
		Walk(n.Target, f)
		Walk(n.Expr, f)
	case *ExprStmt:
		Walk(n.Expr, f)
	default:
		walkExpr(n, f)
	}
}

func walkExpr(n Node, f func(Node) bool) {
	switch n := n.(type) {
	case *Unary:
		Walk(n.X, f)
	case *Binary:
		Walk(n.X, f)
		Walk(n.Y, f)
	case *Call:
		Walk(n.Fun, f)
		walkArgs(n.Args, f)
	case *Index:
		Walk(n.X, f)
		for _, s := range n.Subs {
			Walk(s.Lo, f)
			Walk(s.Hi, f)
			Walk(s.By, f)
		}
	case *Field:
		Walk(n.X, f)
	case *If:
		Walk(n.Cond, f)
		Walk(n.Then, f)
		Walk(n.Else, f)
		Walk(n.ElseIf, f)
	case *Lambda:
		walkPars(n.Params, f)
		Walk(n.Expr, f)
		Walk(n.Body, f)
	case *Comp:
		walkRanges(n.Ranges, f)
		Walk(n.Expr, f)
	case *Parfor:
		walkRanges(n.Ranges, f)
		walkWith(n.With, f)
		Walk(n.Body, f)
	case *List:
		walkExprs(n.Elems, f)
	case *Tuple:
		walkArgs(n.Parts, f)
	case *Record:
		for _, x := range n.Fields {
			Walk(x.Value, f)
		}
	case *Paren:
		Walk(n.X, f)
	case *NamedType:
		walkExprs(n.Dims, f)
	case *GridType:
		walkExprs(n.Dims, f)
		Walk(n.Elem, f)
	case *ChanType:
		Walk(n.Elem, f)
	case *SparseType:
		Walk(n.Elem, f)
	case *RecordType:
		walkFields(n.Fields, f)
	case *TupleType:
		walkFields(n.Fields, f)
	case *FnType:
		for _, p := range n.Params {
			Walk(p, f)
		}
		Walk(n.Result, f)
	}
}

// isNil also recognises typed nils, which optional pointer fields give.
func isNil(n Node) bool {
	switch n := n.(type) {
	case nil:
		return true
	case *Block:
		return n == nil
	case *If:
		return n == nil
	}
	return false
}

func walkStmts(ss []Stmt, f func(Node) bool) {
	for _, s := range ss {
		Walk(s, f)
	}
}

func walkExprs(es []Expr, f func(Node) bool) {
	for _, e := range es {
		Walk(e, f)
	}
}

func walkArgs(as []Arg, f func(Node) bool) {
	for _, a := range as {
		Walk(a.Value, f)
	}
}

func walkWith(w *With, f func(Node) bool) {
	if w != nil {
		walkArgs(w.Args, f)
	}
}

func walkPars(ps []Par, f func(Node) bool) {
	for _, p := range ps {
		Walk(p.Type, f)
		Walk(p.Default, f)
	}
}

func walkRanges(rs []Range, f func(Node) bool) {
	for _, r := range rs {
		Walk(r.Lo, f)
		Walk(r.Hi, f)
		Walk(r.By, f)
	}
}

func walkFields(fs []FieldType, f func(Node) bool) {
	for _, x := range fs {
		Walk(x.Type, f)
	}
}

package lang

// This file defines the productions of types. Elsewhere the words sparse, grid, of and frame are
// identifiers.

// gType is any type. Named is last, because its name may be any identifier.
type gType struct {
	at
	Chan   *gType      `parser:"'chan' @@"`
	Grid   *gGrid      `parser:"| @@"`
	Sparse *gType      `parser:"| 'sparse' @@"`
	Frame  *gRec       `parser:"| 'frame' @@"`
	Rec    *gRec       `parser:"| @@"`
	Tuple  []*gFld     `parser:"| '(' @@ { ',' @@ } ')'"`
	Fn     *gFnType    `parser:"| @@"`
	Named  *gNamedType `parser:"| @@"`
}

// gGrid is `grid[p,q] of chan str`.
type gGrid struct {
	at
	Dims []gExpr `parser:"'grid' '[' @@ { ',' @@ } ']'"`
	Elem *gType  `parser:"'of' @@"`
}

// gRec is `{id: i64, city: str}`.
type gRec struct {
	at
	Fields []*gFld `parser:"'{' @@ { ',' @@ } [ ',' ] '}'"`
}

// gFld is `id: i64`, or a bare type in a tuple.
type gFld struct {
	at
	Name *gIdent `parser:"[ @@ ':' ]"`
	Type *gType  `parser:"@@"`
}

// gFnType is `fn(f64[n], f64) -> f64`.
type gFnType struct {
	at
	Params []*gType `parser:"'fn' '(' [ @@ { ',' @@ } ] ')'"`
	Result *gType   `parser:"'->' @@"`
}

// gNamedType is `f64[n,m]`, `Order`, or `lib.Order` of an import.
type gNamedType struct {
	at
	Name *gIdent `parser:"@@"`
	Of   *gIdent `parser:"[ '.' @@ ]"`
	Dims []gExpr `parser:"[ '[' @@ { ',' @@ } ']' ]"`
}

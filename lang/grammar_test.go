package lang

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"flow/lang/ast"
	"flow/lang/source"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// golden compares got with a file, or rewrites the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run go test ./lang -update and read the difference. got\n%s", path, got)
	}
}

func TestGrammarGolden(t *testing.T) { golden(t, "grammar.ebnf", Grammar()) }

// What the formatter makes of a text that is out of shape in every way it knows.
func TestFormatGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/format/*.in")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, in := range files {
		b, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		checkRound(t, in, string(b))
		f, _, _ := parse(string(b))
		golden(t, in[:len(in)-len(".in")]+".out", string(Format(f, string(b))))
	}
}

// expr is the tree of a text that is one expression.
func expr(t *testing.T, text string) ast.Expr {
	t.Helper()
	fs := source.NewFileSet()
	e, ds := ParseExpr(fs.Add("e", text))
	if len(ds) > 0 {
		t.Fatalf("%s:\n%s", text, rendered(fs, ds))
	}
	return e
}

// grouped shows how an expression was understood.
func grouped(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Binary:
		return "(" + grouped(e.X) + e.Op + grouped(e.Y) + ")"
	case *ast.Unary:
		return "(" + e.Op + " " + grouped(e.X) + ")"
	}
	return Print(e)
}

func TestPrecedence(t *testing.T) {
	for text, want := range map[string]string{
		"2 * A @ x":                  "(2*(A@x))",
		"-x ^ 2":                     "(- (x^2))",
		"2 ^ 3 ^ 2":                  "(2^(3^2))",
		"2 ^ -1":                     "(2^(- 1))",
		"a - b - c":                  "((a-b)-c)",
		"a / b // c % d * e":         "((((a/b)//c)%d)*e)",
		"C - A @ t(B)":               "(C-(A@t(B)))",
		"not a == b and c or d":      "(((not (a==b))andc)ord)",
		"a or b and c":               "(aor(bandc))",
		"x |> f |> g(1)":             "((x|>f)|>g(1))",
		"a + b |> f":                 "((a+b)|>f)",
		"1 + 2 < 3 * 4":              "((1+2)<(3*4))",
		"a @ -b":                     "(a@(- b))",
		"m / r2 ^ 1.5":               "(m/(r2^1.5))",
		"fn(x) => x + 1":             "fn(x) => x + 1",
		"if a { b } else { c } + 1":  "(if a { b } else { c }+1)",
		"a < -b":                     "(a<(- b))",
		"f(x)[0, :].y ^ 2":           "(f(x)[0, :].y^2)",
		"sum(for k in 0..j => a*-k)": "sum(for k in 0..j => a * -k)",
	} {
		if got := grouped(expr(t, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Every operator has its own span.
func TestOperatorSpans(t *testing.T) {
	fs := source.NewFileSet()
	e, _ := ParseExpr(fs.Add("e", "a  +b @\n c|>f"))
	ast.Walk(e, func(n ast.Node) bool {
		if b, ok := n.(*ast.Binary); ok && fs.Text(b.OpAt) != b.Op {
			t.Errorf("%s: span of %q", b.Op, fs.Text(b.OpAt))
		}
		return true
	})
	if fs.Text(e.Span()) != "a  +b @\n c|>f" {
		t.Errorf("span of the whole: %q", fs.Text(e.Span()))
	}
}

// Print adds the parentheses that a tree made by hand needs.
func TestPrintParenthesises(t *testing.T) {
	n := func(s string) ast.Expr { return &ast.Name{Name: s} }
	bin := func(op string, x, y ast.Expr) ast.Expr { return &ast.Binary{Op: op, X: x, Y: y} }
	for want, e := range map[string]ast.Expr{
		"(a + b) * c":         bin("*", bin("+", n("a"), n("b")), n("c")),
		"a - (b - c)":         bin("-", n("a"), bin("-", n("b"), n("c"))),
		"(a ^ b) ^ c":         bin("^", bin("^", n("a"), n("b")), n("c")),
		"(-a) ^ b":            bin("^", &ast.Unary{Op: "-", X: n("a")}, n("b")),
		"-(a @ b)":            &ast.Unary{Op: "-", X: bin("@", n("a"), n("b"))},
		"(a |> f)[0]":         &ast.Index{X: bin("|>", n("a"), n("f")), Subs: []ast.Sub{{Lo: &ast.Int{}}}},
		"(fn(x) => x)(1.0)":   &ast.Call{Fun: &ast.Lambda{Params: []ast.Par{{Name: ast.Ident{Name: "x"}}}, Expr: n("x")}, Args: []ast.Arg{{Value: &ast.Float{Value: 1}}}},
		"a and (b or not c)":  bin("and", n("a"), bin("or", n("b"), &ast.Unary{Op: "not", X: n("c")})),
		`f("a\"\n", 1500ns)`:  &ast.Call{Fun: n("f"), Args: []ast.Arg{{Value: &ast.String{Value: "a\"\n"}}, {Value: &ast.Duration{Nanos: 1500}}}},
		"(a < b) == (c >= d)": bin("==", bin("<", n("a"), n("b")), bin(">=", n("c"), n("d"))),
	} {
		got := Print(e)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if again := Print(expr(t, got)); again != got {
			t.Errorf("%s parses as %s", got, again)
		}
	}
}

func TestLiterals(t *testing.T) {
	for text, want := range map[string]any{
		"4_096": int64(4096), "1e-3": 1e-3, "0.5": 0.5, "1_0.2_5e+1": 102.5, "9223372036854775807": int64(1<<63 - 1),
		"10s": int64(10e9), "100ms": int64(1e8), "1m": int64(60e9), "1.5h": int64(5400e9), "3d": int64(3 * 86400e9), "7ns": int64(7), "2us": int64(2000),
		`"a\t\"\\\n\u{e9}é"`: "a\t\"\\\né\u00e9", `"-"`: "-", `"#"`: "#",
	} {
		var got any
		switch e := expr(t, text).(type) {
		case *ast.Int:
			got = e.Value
		case *ast.Float:
			got = e.Value
		case *ast.Duration:
			got = e.Nanos
		case *ast.String:
			got = e.Value
		}
		if got != want {
			t.Errorf("%s = %v, want %v", text, got, want)
		}
	}
}

// The traps of writing this grammar for participle; each once made a wrong tree.
func TestTraps(t *testing.T) {
	// 1. A literal in a tag matches a token by value: the string "-" is no minus sign.
	f, ds, fs := parse(`param src: str = "-" "file"` + "\nx = lines(\"-\")\ny = \"in\"\nz = f(\"fn\", \"{\")")
	if len(ds) > 0 {
		t.Fatal(rendered(fs, ds))
	}
	p := f.Stmts[0].(*ast.Param)
	if s, ok := p.Default.(*ast.String); !ok || s.Value != "-" || p.Doc == nil || p.Doc.Value != "file" {
		t.Errorf("1: %s", Print(p))
	}
	// 2. Reserved words are no identifiers, and `by` is one, or it could name no argument.
	if _, ds, _ := parse("until = 1"); len(ds) != 1 || ds[0].Code != "E106" {
		t.Errorf("2: %v", ds)
	}
	if got := Print(expr(t, "window(every = 10s, by = .ts)")); got != "window(every = 10s, by = .ts)" {
		t.Errorf("2: %s", got)
	}
	f, ds, fs = parse("by = 2\nfor i in by..by by by { end = of + grid + sparse + frame }")
	if len(ds) > 0 || len(f.Stmts) != 2 {
		t.Errorf("2: %s", rendered(fs, ds))
	}
	// 3. Layout knows where a bracket was opened.
	if _, ds, fs := parse("for i in 0..3 {\n  a = f(1\n}\nb = 2"); len(ds) != 1 || fs.Text(ds[0].Span) != "(" {
		t.Errorf("3: %s", rendered(fs, ds))
	}
	// 4. Messages have words, not productions.
	for _, text := range []string{"a = 1 +", "a = [1, ", "f(", "type T =", "for in", "x = {a: }", "if", "chan L[", "a = b[1, ]"} {
		_, ds, fs := parse(text)
		for _, bad := range []string{"Pow", "Expr", "Prim", "<ident>", "Block", "Stmt", "Or "} {
			if out := rendered(fs, ds); len(ds) == 0 || contains(out, bad) {
				t.Errorf("4: %q:\n%s", text, out)
			}
		}
	}
	// 5. `a <-b` is a send; the formatter writes `a < -b`.
	if f, _, _ := parse("L[0] <-b"); len(f.Stmts) != 1 {
		t.Error("5")
	} else if _, ok := f.Stmts[0].(*ast.Send); !ok {
		t.Errorf("5: %T", f.Stmts[0])
	}
	if got := Print(expr(t, "a< -b")); got != "a < -b" {
		t.Errorf("5: %s", got)
	}
	// 6. `for` at the start of a statement is the statement; a comprehension needs parentheses.
	if f, ds, _ := parse("fn f() {\n  (for k in 0..3 => k)\n}"); len(ds) > 0 || len(f.Stmts) != 1 {
		t.Errorf("6: %v", ds)
	}
	if _, ds, _ := parse("fn f() {\n  for k in 0..3 => k\n}"); len(ds) != 1 {
		t.Errorf("6: %v", ds)
	}
}

func contains(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}

// Layout: what ends a statement, by rule.
func TestLayout(t *testing.T) {
	for text, want := range map[string]int{
		"a = 1\nb = 2":                       2,
		"a = 1; b = 2;":                      2,
		";;a = 1\n\n;\n;b = 2":               2,
		"a = (1\n+ 2)\nb = 2":                2, // (a)
		"a = [1,\n2\n]":                      1,
		"a = f(fn(x) {\n  y = 1\n  y\n})":    1, // newlines count again inside braces
		"a = 1 +\n2\nb = 3":                  2, // (b)
		"a =\n  1":                           1,
		"a = xs\n   |> f\n   |> g":           1, // (c)
		"iterate c = 1\nuntil c > 2 {\n}":    1,
		"if a { b }\nelse { c }":             1,
		"a = b\n  and c\n  or d":             1,
		"emit a\n  to \"x\"\n  as \"y\"":     1,
		"fn f(x)\n  -> f64 = x":              1,
		"chan L = f(x)\n  with (a = b)":      1,
		"a = xs # c\n   # d\n\n   |> f":      1,
		"a = 1\n-2":                          2, // a sign does not continue a line
		"a = inf\nb = nan\nc = true\nd = {}": 4,
		"type T = {a: i64,\n  b: str\n}":     1,
		"a = x.y\nb = 1":                     2,
		"a = 1\r\nb = 2\r\n":                 2,
	} {
		f, ds, fs := parse(text)
		if len(f.Stmts) != want || len(ds) > 0 {
			t.Errorf("%q: %d statements, want %d\n%s", text, len(f.Stmts), want, rendered(fs, ds))
		}
	}
}

func TestParseExprErrors(t *testing.T) {
	for _, text := range []string{"", "1 +", "a b", "a = 1", "(1", "1)", "a\nb", "$"} {
		fs := source.NewFileSet()
		if e, ds := ParseExpr(fs.Add("e", text)); e != nil || len(ds) == 0 {
			t.Errorf("%q: %v", text, e)
		}
	}
}

// A program of twenty lines has to start computing within 100 ms; reading it must be a small part
// of that.
func BenchmarkParse20Lines(b *testing.B) {
	text := programs(b)["cholesky.flow"]
	parse(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		parse(text)
	}
}

// BenchmarkBuild is what the first Parse of a process pays once.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		buildClimbing()
	}
}

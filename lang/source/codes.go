package source

import "strings"

// This file defines the table of diagnostic codes. `flowrun explain E402` prints a row, the manual
// lists all, and a test checks them, so it is one long table. A code never changes its meaning.

// Code is the stable name of a kind of finding: E1xx names, parameters and syntax; E2xx types and
// shapes; E3xx streams; E4xx channels, loops and the graph; E5xx files and data; E6xx run time;
// E7xx distributed runs; Lxxx limits of Flow; Wxxx warnings.
type Code string

// Severity returns the severity of the code's letter.
func (c Code) Severity() Severity {
	switch {
	case strings.HasPrefix(string(c), "L"):
		return Limit
	case strings.HasPrefix(string(c), "W"):
		return Warning
	}
	return Error
}

// CodeRow describes a code.
type CodeRow struct {
	Code    Code
	Title   string // a few words
	Explain string // the rule and what to do, in sentences
	// the smallest program that provokes it; empty if only Command or the environment can
	Program string
	Command string // flowrun arguments that provoke it, if a program alone does not
}

// Lookup returns the row of c.
func Lookup(c Code) (CodeRow, bool) {
	for _, r := range codes {
		if r.Code == c {
			return r, true
		}
	}
	return CodeRow{}, false
}

// Codes returns all rows, grouped by family.
func Codes() []CodeRow { return append([]CodeRow(nil), codes[:]...) }

// codes is an array, so that nothing can append to it. It is never modified.
var codes = [...]CodeRow{
	// Syntax.
	{"E100", "unexpected text", "Something stands where the grammar does not allow it. The message says what was found and what was wanted.", "a = 1 2", ""},
	{"E101", "bracket is not closed", "Every ( [ { needs its closing bracket. Inside ( and [ line ends do not count, so a missing one is noticed late; the message shows where the bracket was opened.", "a = (1 + 2", ""},
	{"E102", "operand is missing", "An operator needs a value on its right (and, unless it is a sign or `not`, on its left).", "a = 1 +", ""},
	{"E103", "wrong assignment sign", "`=` binds a new name and is a statement; `<-` sends to a channel; `==` compares. There is no := and no +=, because a name is bound once.", "a := 1", ""},
	{"E104", "comparisons do not chain", "`a < b < c` is not an expression. Write `a < b and b < c`.", "a = 1 < 2 < 3", ""},
	{"E105", "else without if", "An `else` belongs to the `if` whose closing brace is right before it.", "else { 1 }", ""},
	{"E106", "reserved word as a name", "The words of the grammar cannot name bindings, parameters, fields or arguments.", "state = 1", ""},
	{"E107", "malformed number", "Digits may be grouped by single underscores; a fraction has digits on both sides of the dot; an integer fits 64 bits. Durations are 10s, 100ms, 1m.", "a = 12abc", ""},
	{"E108", "string is not closed", "A string ends with a double quote on the line where it starts. Write \\n for a line end inside it.", `a = "abc`, ""},
	{"E109", "unknown escape", `The escapes in a string are \n \t \r \" \\ and \u{1F600}. A backslash itself is written \\.`, `a = "\q"`, ""},
	{"E110", "unexpected character", "The character has no meaning in Flow outside strings and comments. Names are ASCII letters, digits and _.", "a = 1 $ 2", ""},
	{"E111", "cannot send to this", "`<-` is a statement that sends to an element of a channel array: `L[i,j] <- e`. Written `a <-1` for \"a less than -1\" it needs a space: `a < -1`.", "f(1) <- 2", ""},
	{"E112", "bracket was never opened", "A closing bracket has no opening one.", "a = 1)", ""},
	{"E113", "nested too deeply", "Brackets, types and right-associative operators may nest 200 deep, calls of functions 64. Bind parts of the expression to names.", "a = " + strings.Repeat("(", 201) + "1" + strings.Repeat(")", 201), ""},
	{"E114", "statement is not allowed here", "`import param type fn stage` stand at the top level; `state` and `on` in a stage; `next` in an iterate or a stage; `emit` not in a fn.", "next c = 1", ""},
	// Names, functions and parameters.
	{"E115", "name is bound twice", "A name is bound once in a scope, and a block may not bind a name that is visible around it. Choose another name; for a value that changes from round to round use `iterate`.", "a = 1\na = 2", ""},
	{"E116", "unknown name", "Nothing of that name is bound above, declared, or built in.", "emit nosuch", ""},
	{"E117", "name is used above its binding", "Bindings are read from top to bottom: move the binding above its first use.", "b = a\na = 1", ""},
	{"E118", "not a function", "Only functions and operators can be called, and they cannot be stored or emitted.", "a = 1\nb = a(2)", ""},
	{"E119", "function as a value", "A function may be passed as an argument; it cannot be bound, sent or emitted.", "fn f(x) = x\na = f", ""},
	{"E120", "no such param", "`--set name=value` names a param of the program; an imported file's are set as alias.name.", "param nb: i64 = 1", "--set nB=128"},
	{"E121", "value does not fit the param", "The value given by --set (or the default) must be a literal of the param's type.", "param n: i64 = 1", "--set n=abc"},
	{"E122", "required param is not set", "A param without a default needs --set.", "param n: i64\nemit n", ""},
	{"E123", "value is not among the param's choices", "`param x = d in [..]` admits the listed values alone.", "param m = \"a\" in [\"a\", \"b\"]", "--set m=c"},
	{"E124", "import not found", "The path is looked up beside the importing file, then in the directories of the environment variable FLOWPATH; `std/` names the library that comes with Flow.", `import "nosuch.flow" as x`, ""},
	{"E125", "imports form a cycle", "Files import each other in a circle. Move what both need into a third file.", "", ""},
	{"E126", "imported file has statements", "An imported file may contain only import, type, fn, stage and param.", "", ""},
	{"E127", "wrong number of arguments", "The call has too few or too many arguments; the message shows the signature.", "fn f(x) = x\nemit f(1, 2)", ""},
	{"E128", "no such argument", "A named argument must name a parameter of the function.", "fn f(x) = x\nemit f(y = 1)", ""},
	{"E129", "argument given twice", "A parameter got a positional and a named argument, or two named ones; positional ones come first.", "fn f(x) = x\nemit f(1, x = 2)", ""},
	{"E130", "recursion", "A fn may not call itself, directly or through others. Loops are `for` (before the run) and `iterate` (in it).", "fn f(x) = f(x)\nemit f(1)", ""},
	{"E131", "column outside a row", "`.name` means a field of the current row and stands only in an argument that is evaluated row by row.", "a = .x", ""},
	{"E132", "no such field", "The value has no field of that name.", "a = 1\nemit a.foo", ""},
	{"E133", "block has no value", "The last statement of a block that is used as a value must be an expression.", "fn f(x) { y = x }\nemit f(1)", ""},
	{"E134", "unknown type", "The name is neither an element type (f64 f32 i64 bool str time dur) nor declared by `type`.", "a: f65 = 1", ""},
	{"E135", "parts of a tuple", "`a, b = e` needs an e with exactly that many parts. Of the parts of a tuple all have names, or none, and no two the same.", "a, b = 1", ""},
	{"E136", "program text is too long", "A program and each file that it imports has at most 16 MiB. Read data with `read`, and let a `for` write what repeats.", "", ""},

	// Types and shapes.
	{"E200", "wrong type", "The value's type is not the one wanted here. bool widens to i64 and i64 to f64 in arithmetic; everything else is converted explicitly: i64(x), f32(x).", `a: i64 = "x"`, ""},
	{"E201", "operator is not defined for these arguments", "The operator takes arguments of other element types, or more or fewer of them.", `emit "a" - 1`, ""},
	{"E202", "wrong kind of value", "The operator or statement takes another kind of value: `if`, `until`, `not`, `and`, `or` and `assert` take bool (numbers are not truth values), reductions take matrices, sizes take integers.", "emit if 1 { 2 } else { 3 }", ""},
	{"E203", "bad argument value", "The argument's value is outside what the operator accepts.", "emit zeros(-1, 1)", ""},
	{"E204", "if without else has no value", "An `if` used as a value needs an `else`.", "a = if true { 1 }", ""},
	{"E210", "inner sizes of @ differ", "A @ B needs as many columns in A as rows in B. t(A) transposes.", "emit ones(2, 3) @ ones(2, 3)", ""},
	{"E211", "shapes do not fit together", "Along each axis the arguments of an elementwise operator have equal sizes, or one of them is 1 and is stretched: a scalar, a row and a column go with n×m, a column and a row make a matrix.", "emit ones(2, 3) + ones(3, 2)", ""},
	{"E212", "index is out of range", "Indices start at 0; a negative one counts from the end; a range is cut nowhere.", "emit ones(2, 2)[2, 0]", ""},
	{"E213", "sizes do not agree", "One size name in a signature stands for one number in a call, and operators of square matrices want as many rows as columns.", "fn f(a: f64[n,n]) = a\nemit f(ones(2, 3))", ""},
	{"E214", "wrong shape", "The value has another shape than its declared type.", "a: f64[2,2] = ones(2, 3)", ""},
	{"E215", "must be known before the run", "Sizes, loop bounds, tile edges and indices of channel arrays are integers that do not depend on data.", "emit eye(i64(sum(rand(2, 2))))", ""},
	{"E216", "impossible size", "Sizes are not negative and a matrix fits in memory that can be addressed.", "chan c: grid[-1] of f64[2,2]", ""},
	{"E217", "cannot be indexed", "Matrices, lists and channel arrays have subscripts; scalars and tuples do not.", "a = 1\nemit a[0]", ""},
	{"E218", "wrong number of subscripts", "Matrices take two subscripts, channel arrays as many as they have dimensions.", "emit ones(2, 2)[0, 0, 0]", ""},
	{"E219", "division by zero", "An integer division by zero in an expression that is computed before the run.", "emit 1 // 0", ""},
	{"E220", "integer overflow", "An integer expression computed before the run leaves the range of 64 bits.", "emit 9_223_372_036_854_775_807 + 1", ""},
	{"E221", "branches differ in type", "Both branches of an `if` on a value of the run have one type and one shape. Where the condition is known before the run, the other branch is not looked at.", `emit if sum(eye(2)) > 1 { 1 } else { "a" }`, ""},

	// Streams.
	{"E310", "pipe does not map", "`xs |> f` calls f with the whole stream. To apply f to every token write `xs |> map(f)`.", `emit lines("-") |> upper`, ""},
	{"E331", "channels have different clocks", "`zip` pairs token by token, so both inputs must come from one source by operators that keep the count of tokens.", "a = lines(\"-\")\nb = a |> filter(fn(x) => len(x) > 1)\nemit zip(a, b)", ""},
	{"E332", "one branch waits for the whole of another", "With bounded buffers the two would block each other. Use `collect` first, or read the source twice.", "", ""},
	{"E340", "needs a stream that ends", "The operator needs all tokens and the stream never has to end. Put `window(every = ..)` or `window(count = ..)` before it.", `emit lines("-") |> count`, ""},
	{"E341", "lateness is missing", "A window by event time needs `late = d`: how long to wait for tokens that come out of order.", "", ""},

	// Channels, loops, the graph.
	{"E401", "not a channel", "`<-` sends to an element of an array declared by `chan`. A name bound by `=` has one value.", "A = ones(2, 2)\nA[0,0] <- 1", ""},
	{"E402", "read before anything was sent", "The element has no token at this point of the program: nothing above sends to it, or the constructor left it out (tiles with part = \"lower\" has none above the diagonal).", "chan L = tiles(eye(4), 2, part = \"lower\")\nemit L[0,1]", ""},
	{"E403", "no such channel", "The subscript is outside the channel array.", "chan L = tiles(eye(4), 2)\nemit L[2,0]", ""},
	{"E404", "equations form a cycle", "Elements of an equation need each other in a circle, so none can be first. The message lists the circle.", "chan L[i in 0..2] = L[1 - i]\nemit L[0]", ""},
	{"E405", "loop bound depends on data", "`for` is unrolled before the run, so its bounds are known then. Use `parfor` for many independent results and `iterate` for rounds.", "n = i64(sum(ones(2, 2)))\nfor i in 0..n { emit i }", ""},
	{"E406", "send where the order is not static", "Sends stand at top level or in fn, under `for` and under `if` with a condition known before the run; not in an `iterate`, and not under an `if` on a value of the run, unless the array is declared in there, too.", "chan L = tiles(eye(4), 2)\nif sum(eye(4)) > 1 { L[0,0] <- eye(2) }", ""},
	{"E407", "channel has no send end", "`tiles` without `chan`, and arrays given by equations, can only be read. Declare `chan L = ..`.", "T = tiles(eye(4), 2)\nT[0,0] <- eye(2)", ""},
	{"E408", "stream channel is connected twice", "An element of type `chan T` is connected once.", "", ""},
	{"E409", "element was never sent", "The whole array is read and one of its elements has no token.", "chan c: grid[2] of f64[2,2]\nc[0] <- eye(2)\nemit untile(c)", ""},
	{"E410", "too many tasks", "The unrolled program has more tasks than --max-tasks, or eight times as many calls and rounds before the run. A larger tile makes fewer.", "", "--max-tasks 1"},
	{"E411", "token has the wrong type or shape", "All tokens of a channel have the channel's type and shape.", "chan L = tiles(eye(4), 2)\nL[0,0] <- eye(3)", ""},
	{"E412", "next is missing", "Every carried name of an `iterate` has exactly one `next`.", "iterate c = 0 times 3 { d = c }\nemit c", ""},
	{"E413", "next is given twice or under a condition", "Every carried name of an `iterate` has exactly one `next`, not under `if` or `for`.", "iterate c = 0 times 3 { next c = 1; next c = 2 }\nemit c", ""},
	{"E414", "next of something that is not carried", "`next` names a carried name of the enclosing `iterate` or a `state` of the stage.", "iterate c = 0 times 3 { next d = 1 }\nemit c", ""},
	{"E415", "carried type changes", "A carried name keeps its type and shape from round to round. A literal that it starts as takes the type of its `next`.", "iterate c = ones(1, 1) times 3 { next c = ones(2, 2) }\nemit c", ""},
	{"E416", "range is missing", "`for i in xs` needs a range `a..b`, or a list or channel array.", "for i in 3 { emit i }", ""},
	{"E417", "step is 0", "`by` takes an integer that is not 0; a negative one makes a range that descends: 3..0 by -1 is 3, 2, 1.", "for i in 0..4 by 0 { emit i }", ""},
	{"E419", "shape of a parfor", "A parfor has one index, with a scalar or a row 1 x m as the value of its body, or two indices, with a scalar.", "a = parfor i in 0..3 { ones(2, 2) }", ""},

	// Files and data.
	{"E501", "file cannot be read", "The file does not exist, seen from the directory where flowrun runs, or the operating system refused. A stream, such as standard input, is read once, in one way, by one process, and not where the program itself comes from it.", `emit read("nosuch.npy")`, ""},
	{"E502", "unknown format", "The extension (.mtx .mtx.gz .npy .csv .tsv; to write also .pgm and .png, and .svg, .png and .html for pictures) chooses reader and writer.", `emit 1 to "a.xyz"`, ""},
	{"E503", "malformed Matrix Market file", "The banner, the size line, the number of entries, an index or a number is not what the format demands. The message names the line.", "", ""},
	{"E504", "malformed table", "A field is not a number or missing, or lines differ in their number of fields. The message names line and column. The first line is names when no field of it begins with a digit, a sign, a point or a currency sign; head = true or false in read decides. columns = \"id, amount\" reads these columns alone, where others hold texts.", "", ""},
	{"E505", "malformed .npy file", "The magic bytes, the header or the size of the data is not what the format demands.", "", ""},
	{"E506", "damaged compressed file", "The gzip data is cut off or damaged.", "", ""},
	{"E507", "file cannot be written", "The operating system refused; nothing was left half written.", `emit 1 to "/nosuch/dir/a.csv"`, ""},
	{"E508", "not a finite number", "The data contains nan or inf where the computation cannot use it.", "", ""},
	{"E509", "unsupported contents", "The file is well formed and holds something Flow does not read, such as complex numbers.", "", ""},
	{"E512", "no such column", "The table has no column of that name.", "", ""},
	{"E513", "malformed list of edges", "A line is two vertices, integers from 0 on, separated by blanks, a tab or a comma. The message names line and column.", "", ""},
	{"E514", "malformed .csr file", "The magic bytes, the sizes or the arrays are not what the format demands, or a checksum says that the file is damaged.", "", ""},
	{"E515", "file written twice", "Two emits write to one file whose format holds one matrix. Text tables (.csv, .tsv) take several, one below the other.", "emit 1 to \"a.npy\"\nemit 2 to \"a.npy\"", ""},

	// Run time.
	{"E601", "matrix is not positive definite", "Cholesky met a diagonal element that is not positive. The message names the tile and the minor.", "emit potrf(-eye(2))", ""},
	{"E602", "zero pivot", "A pivot is zero: the matrix is singular, or needs an elimination with row exchanges.", "L, U = lu(zeros(2, 2))\nemit U", ""},
	{"E603", "assertion failed", "The condition of an `assert` is false; the run stops.", `assert 1 == 2, "numbers changed"`, ""},
	{"E605", "out of memory", "The value or the run needs more memory than there is. Choose smaller sizes or more ranks.", "emit sum(rand(2, 1_000_000_000_000_000_000))", ""},
	{"E606", "operator failed in the run", "An operator met data that it cannot work on, such as an integer divided by zero or the maximum of nothing.", "", ""},
	{"E607", "index is out of range in the run", "An index that depends on data is outside the matrix.", "X = eye(2)\nemit X[i64(sum(X)), 0]", ""},
	{"E608", "interrupted", "The run was stopped by a signal before it was done.", "", ""},
	{"E609", "technique hands out no chunk", "The expression of `--partitioning`, or of `schedule`, is not a positive number for a loop of the program.", `emit parfor i in 0..4 with (schedule = "expr: -1") { i }`, ""},
	{"E610", "too many threads", "The limits on the process, of its user, its control group or its addresses, allow fewer threads than the run asks for. --threads N asks for fewer; the result is the same.", "", ""},

	// Distributed runs.
	{"E701", "ranks run different programs", "All ranks must run the same build of flowrun and be given the same program, params and input files. The message says what differs, and on which rank.", "", ""},
	{"E702", "a rank was lost", "A process of the run died; the others stop.", "", ""},
	{"E703", "backend is not in this build", "This flowrun was built without MPI. Build with -tags mpi, or use --backend=mem.", "emit 1", "--distributed --backend=mpi"},
	{"E704", "mpirun was not found", "Install an MPI (Debian: openmpi-bin) or name the launcher.", "", ""},
	{"E705", "ranks lost contact", "The transport failed, or no message came from a rank that owes one.", "", ""},
	{"E706", "impossible number of ranks", "--ranks is at least 1.", "emit 1", "--distributed --ranks 0"},
	{"E707", "the launcher of the ranks was lost", "mpirun was killed by somebody else, and its ranks were stopped; none of them has failed.", "", ""},

	// Limits: valid programs that Flow cannot run yet.
	{"L001", "streams", "Stream sources and operators are not built yet. Read a finite file with `read`.", `emit lines("-")`, ""},
	{"L002", "frames and records", "Tables with named columns are not built yet. Read numeric files as matrices.", "type T = {a: i64}\na = read(\"x.csv\", T)", ""},
	{"L003", "too many columns for a sparse matrix", "Column indices have 31 bits. Transpose the problem, or number the columns anew.", "emit nnz(rand_graph(3_000_000_000, 1))", ""},
	{"L004", "stages", "User stream operators are not built yet.", "stage s(xs: chan f64) -> chan f64 { on x in xs { emit x } }", ""},
	{"L005", "parameter server", "`paramserver` is not built yet.", "w = paramserver(init = zeros(2, 1))", ""},
	{"L009", "type", "Values of this type are not built yet.", "a: time = 1", ""},
	{"L010", "construct", "This construct parses and is not built yet.", `emit len("a")`, ""},
	{"L011", "operator", "This operator is not built yet for these types.", "", ""},

	// Warnings.
	{"W002", "more ranks than work", "Some ranks have less than a hundredth of the work of the busiest. Fewer ranks or a smaller tile.", "", ""},
	{"W003", "setting has no effect", "A placement or schedule hint does not apply here, or a tile edge is larger than the matrix.", "chan L = tiles(eye(4), 8)\nemit untile(L)", ""},
	{"W004", "comparison with nan", "A comparison with nan is false, and `!=` is true, whatever the other side. Use isnan(x).", "emit 1.0 == nan", ""},
	{"W005", "empty range", "A range counts up unless its step is negative: one whose bounds descend has no index.", "for i in 3..0 { emit i }", ""},
	{"W006", "unread value", "An expression that stands alone prints nothing. Only emit prints, and only a name or the end of a block passes a value on.", "1 + 2", ""},
}

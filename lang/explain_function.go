package lang

import (
	"fmt"

	"flow/lang/source"
)

// This file recognises function values and declarations of other languages.

// explainLambda recognises a function value: lambda x: e, x -> e, x => e, @(x) e, function(x) e. As
// the whole right side of a binding it becomes a declared function.
func explainLambda(s scene) (source.Diagnostic, bool) {
	start, params, body := s.i, "", 0
	switch k := s.i; {
	case s.isWord(k-1, "lambda") && s.findOp(k, len(s.toks), ":") < len(s.toks):
		start, body = k-1, s.findOp(k, len(s.toks), ":")+1
		params = s.text(k, body-1)
	case s.is(k, "->", "=>") && s.isIdent(k-1):
		start, params, body = k-1, s.toks[k-1].Value, k+1
	case s.is(k, "@") && s.is(k+1, "("):
		body = s.match(k+1) + 1
		params = s.text(k+2, body-1)
	default:
		for k = s.i; k > s.from && !s.isWord(k, "function"); k-- {
		}
		if !s.isWord(k, "function") || k == s.from || !s.is(k+1, "(") {
			return source.Diagnostic{}, false
		}
		start, body = k, s.match(k+1)+1
		params = s.text(k+2, body-1)
	}
	if body >= len(s.toks) {
		return source.Diagnostic{}, false
	}
	stop := min(s.findOp(body, len(s.toks), ",", ")", "]", ";"), s.lineEnd(body))
	block := s.is(body, "{")
	if block {
		stop = s.match(body) + 1
	}
	if stop > len(s.toks) || stop <= body {
		return source.Diagnostic{}, false
	}
	if s.is(start-1, "=", "<-") && start-2 == s.from && s.isIdent(s.from) {
		text := fmt.Sprintf("fn %s(%s) = %s", s.toks[s.from].Value, params, s.text(body, stop))
		if block {
			text = fmt.Sprintf("fn %s(%s) %s", s.toks[s.from].Value, params, s.text(body, stop))
		}
		return s.rewritten(s.from, stop-1, text, "a function that has a name is declared with `fn`"), true
	}
	arrow := "=> "
	if block {
		arrow = ""
	}
	return s.rewritten(start, stop-1, fmt.Sprintf("fn(%s) %s%s", params, arrow, s.text(body, stop)), "a function as an argument is written with `fn`"), true
}

// explainFunction recognises a function declaration: def f(x): e, function y = f(x), f(x) = e, fn
// f(x) => e, fn f(x): f64 = e, fn f(x) e.
func explainFunction(s scene) (source.Diagnostic, bool) {
	k := s.from
	switch {
	case s.isWord(k, "def", "func", "function", "fun", "proc"):
		name := k + 1
		if s.isIdent(k+1) && s.is(k+2, "=") { // function y = f(x)
			name = k + 3
		}
		if !s.isIdent(name) || !s.is(name+1, "(") || s.match(name+1) >= len(s.toks) {
			return source.Diagnostic{}, false
		}
		close := s.match(name + 1)
		d := source.Errorf("E100", s.span(k, close), "`%s` declares nothing", s.toks[k].Value)
		return d.WithHelp("a function is declared by `fn %s`, then `= value` or a body in braces", s.text(name, close+1)), true
	case isOp(s.found, "=") && s.isIdent(k) && s.is(k+1, "(") && s.match(k+1) == s.i-1 && s.i+1 < len(s.toks):
		stop := s.lineEnd(s.i)
		d := s.rewritten(k, stop-1, "fn "+s.text(k, stop), "`=` binds a name, and what is left of it is no name")
		d.Code = "E103"
		return d, true
	case s.is(k, "fn") && s.isIdent(k+1) && s.is(k+2, "(") && s.i == s.match(k+2)+1 && s.i < len(s.toks):
		stop := s.lineEnd(s.i)
		switch {
		case isOp(s.found, "=>"):
			return s.rewritten(s.i, s.i, "=", "the value of a function stands after `=`"), true
		case isOp(s.found, ":"):
			return s.rewritten(s.i, s.i, " ->", "the type of the result stands after `->`"), true
		case !isOp(s.found, "=", "{", "->", ";") && !s.lineBreak(s.i-1):
			return s.rewritten(s.i, stop-1, "= "+s.text(s.i, stop), "`fn` wants `= value` or a body in braces"), true
		}
	}
	return source.Diagnostic{}, false
}

package main

// This file computes the coefficients of the polynomials in functions_*.go: interpolation of a
// power series at the Chebyshev nodes of an interval, in 300-bit arithmetic, whose error is within
// a small factor of the best polynomial's (N. Trefethen, "Approximation Theory and Approximation
// Practice", ch. 16). So no table of numbers is to be trusted.

import (
	"math"
	"math/big"
)

const seriesBits = 300

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(seriesBits).SetFloat64(x) }

// series is the coefficient of z^k of a power series that converges at least as fast as that of the
// functions here.
type series func(k int64) *big.Rat

// at is the sum of the series at z.
func (s series) at(z *big.Float) *big.Float {
	sum, power := bigFloat(0), bigFloat(1)
	for k := int64(0); k < 2000; k++ {
		term := new(big.Float).SetPrec(seriesBits).SetRat(s(k))
		term.Mul(term, power)
		sum.Add(sum, term)
		if term.Sign() != 0 && sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-seriesBits {
			return sum
		}
		power.Mul(power, z)
	}
	return sum
}

// polynomial is the coefficients, lowest first and each rounded once, of degree n that interpolate
// s on [lo, hi].
func (s series) polynomial(n int, lo, hi float64) []float64 {
	x, f := make([]*big.Float, n+1), make([]*big.Float, n+1)
	for i := range x {
		x[i] = bigFloat((lo+hi)/2 + (hi-lo)/2*math.Cos(math.Pi*(float64(i)+.5)/float64(n+1)))
		f[i] = s.at(x[i])
	}
	for level := 1; level <= n; level++ { // Newton's divided differences
		for i := n; i >= level; i-- {
			d := new(big.Float).Sub(x[i], x[i-level])
			f[i] = new(big.Float).Sub(f[i], f[i-1])
			f[i].Quo(f[i], d)
		}
	}
	c := make([]*big.Float, n+1)
	for i := range c {
		c[i] = bigFloat(0)
	}
	for i := n; i >= 0; i-- { // c = c*(z - x[i]) + f[i]
		for k := n; k > 0; k-- {
			t := new(big.Float).SetPrec(seriesBits).Mul(c[k], x[i])
			c[k] = new(big.Float).SetPrec(seriesBits).Sub(c[k-1], t)
		}
		t := new(big.Float).SetPrec(seriesBits).Mul(c[0], x[i])
		c[0] = new(big.Float).SetPrec(seriesBits).Sub(f[i], t)
	}
	out := make([]float64, n+1)
	for i, v := range c {
		out[i], _ = v.Float64()
	}
	return out
}

// parts splits x into doubles of at most bits significant bits each, the last of 53, whose sum is x
// to their joint precision.
func parts(x *big.Float, bits ...uint) []float64 {
	rest := new(big.Float).SetPrec(1400).Set(x)
	out := make([]float64, len(bits))
	for i, b := range bits {
		out[i], _ = new(big.Float).SetPrec(b).Set(rest).Float64()
		rest.Sub(rest, new(big.Float).SetPrec(1400).SetFloat64(out[i]))
	}
	return out
}

// inverse is 1/x.
func inverse(x *big.Float) *big.Float {
	one := new(big.Float).SetPrec(x.Prec()).SetFloat64(1)
	return one.Quo(one, x)
}

// atanhInverse is artanh(1/n) to bits: the sum of n^-(2k+1)/(2k+1).
func atanhInverse(n int64, bits uint) *big.Float {
	sum := new(big.Float).SetPrec(bits)
	power := new(big.Float).SetPrec(bits).Quo(new(big.Float).SetPrec(bits).SetInt64(1), new(big.Float).SetPrec(bits).SetInt64(n))
	square := new(big.Float).SetPrec(bits).SetInt64(n * n)
	for k := int64(0); power.MantExp(nil) > -int(bits)-8; k++ {
		sum.Add(sum, new(big.Float).SetPrec(bits).Quo(power, new(big.Float).SetPrec(bits).SetInt64(2*k+1)))
		power.Quo(power, square)
	}
	return sum
}

// atanInverse is arctan(1/n) to bits.
func atanInverse(n int64, bits uint) *big.Float {
	sum := new(big.Float).SetPrec(bits)
	power := new(big.Float).SetPrec(bits).Quo(new(big.Float).SetPrec(bits).SetInt64(1), new(big.Float).SetPrec(bits).SetInt64(n))
	square := new(big.Float).SetPrec(bits).SetInt64(-n * n)
	for k := int64(0); power.MantExp(nil) > -int(bits)-8; k++ {
		sum.Add(sum, new(big.Float).SetPrec(bits).Quo(power, new(big.Float).SetPrec(bits).SetInt64(2*k+1)))
		power.Quo(power, square)
	}
	return sum
}

// ln2 is log(2) = 2 artanh(1/3).
func ln2() *big.Float {
	x := atanhInverse(3, 1400)
	return x.Mul(x, big.NewFloat(2))
}

// ln10 is log(10) = 3 log(2) + log(5/4), log(5/4) = 2 artanh(1/9).
func ln10() *big.Float {
	x := atanhInverse(9, 1400)
	x.Mul(x, big.NewFloat(2))
	y := ln2()
	y.Mul(y, big.NewFloat(3))
	return x.Add(x, y)
}

// pi is Machin's 16 arctan(1/5) - 4 arctan(1/239).
func pi() *big.Float {
	x, y := atanInverse(5, 1400), atanInverse(239, 1400)
	x.Mul(x, big.NewFloat(16))
	return x.Sub(x, y.Mul(y, big.NewFloat(4)))
}

// factorial is n!.
func factorial(n int64) *big.Int { return new(big.Int).MulRange(1, n) }

// over is a/b.
func over(a int64, b *big.Int) *big.Rat { return new(big.Rat).SetFrac(big.NewInt(a), b) }

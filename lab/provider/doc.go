// Package provider prices requests as providers of models do: it simulates their
// prompt caches, and holds what models cost in one table.
//
// It owns how a cache finds what it has seen, block by block. What tokens cost is
// the arithmetic of package decay, and what a request holds is its caller's
// business.
//
// # Invariants
//
// Each token of a request is read, written or fresh exactly once. Time comes with
// the requests; a clock that goes backwards ages nothing. Nothing here depends on
// which policy made a request.
package provider

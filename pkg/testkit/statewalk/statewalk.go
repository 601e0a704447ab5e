// Package statewalk goes through all states that records of a kind can be in, by the moves that lead from each. What the moves are, and which
// states are ends, is up to the tests.
package statewalk

import (
	"maps"
	"slices"
)

// Record is one record on its way.
type Record interface {
	// State names the state that the record is in, and the moves that it shows there.
	State() (name string, moves []string)
	// Take makes a move, which may not be refused.
	Take(move string)
}

// State is a state that records can be in.
type State struct {
	Path  []string          // that leads there from a new record
	moves map[string]string // where each leads; "" = nobody has tried
}

// untried is the first of the moves that nobody has tried; "" = none.
func (s *State) untried() string {
	for _, move := range slices.Sorted(maps.Keys(s.moves)) {
		if s.moves[move] == "" {
			return move
		}
	}
	return ""
}

// States are all that were found, by name.
type States map[string]*State

// All goes through all states, with as many records as it takes.
func All(begin func() Record) States {
	found := States{}
	todo := found.explore(begin(), nil)
	for len(todo) > 0 {
		if at := found[todo[0]]; at.untried() != "" {
			todo = append(todo, found.explore(begin(), at.Path)...)
		} else {
			todo = todo[1:]
		}
	}
	return found
}

// explore takes the moves of a path, and then moves that nobody has tried. It returns the names of new states.
func (found States) explore(r Record, path []string) (met []string) {
	path = slices.Clone(path)
	for _, move := range path {
		r.Take(move)
	}
	for {
		name, moves := r.State()
		if found[name] == nil {
			at := &State{slices.Clone(path), map[string]string{}}
			for _, move := range moves {
				at.moves[move] = ""
			}
			found[name], met = at, append(met, name)
		}
		move := found[name].untried()
		if move == "" {
			return met
		}
		r.Take(move)
		path = append(path, move)
		found[name].moves[move], _ = r.State()
	}
}

// Edge is a move from a state.
type Edge struct{ State, Move string }

// Way returns the shortest way from a state to one that is an end, which avoids some moves; false if there is none.
func (found States) Way(from string, end func(name string) bool, avoid map[Edge]bool) (moves []string, ok bool) {
	ways := map[string][]string{from: {}}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		name := todo[0]
		if end(name) {
			return ways[name], true
		}
		for _, move := range slices.Sorted(maps.Keys(found[name].moves)) {
			next := found[name].moves[move]
			if ways[next] == nil && !avoid[Edge{name, move}] {
				ways[next] = append(slices.Clone(ways[name]), move)
				todo = append(todo, next)
			}
		}
	}
	return nil, false
}

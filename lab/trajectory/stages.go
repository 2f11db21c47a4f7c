package trajectory

// stage is where hot, warm and cold compaction keeps one piece.
type stage uint8

const (
	hot  stage = iota // as it was said
	warm              // in brief
	cold              // out of view
)

func (s stage) String() string { return [...]string{"hot", "warm", "cold"}[s] }

// piece is one turn, or one compartment, with its sizes.
type piece struct {
	hot, warm int
	at        stage
}

func (p *piece) size() int {
	switch p.at {
	case hot:
		return p.hot
	case warm:
		return p.warm
	}
	return 0
}

// meter is what the pieces in view take.
func meter(pieces []piece) int {
	n := 0
	for i := range pieces {
		n += pieces[i].size()
	}
	return n
}

// crossing is one piece that went from one stage to the next.
type crossing struct {
	piece    int
	from, to stage
}

// compact is hot, warm and cold compaction: if the meter is above the budget, all
// but the newest keep pieces that are hot become warm, and then the oldest that are
// warm become cold until the budget holds. Where the newest alone are too large,
// they cool too, the oldest first. Nothing is ever warmed up again.
func compact(pieces []piece, budget, keep int) []crossing {
	if meter(pieces) <= budget {
		return nil
	}
	var crossed []crossing
	cool := func(i int) {
		crossed = append(crossed, crossing{i, pieces[i].at, pieces[i].at + 1})
		pieces[i].at++
	}
	for i := range len(pieces) - min(keep, len(pieces)) {
		if pieces[i].at == hot {
			cool(i)
		}
	}
	for _, s := range [...]stage{warm, hot, warm} {
		for i := range pieces {
			if meter(pieces) <= budget {
				return crossed
			}
			if pieces[i].at == s {
				cool(i)
			}
		}
	}
	return crossed
}

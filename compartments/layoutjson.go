package compartments

import (
	"encoding/hex"
	"strconv"
)

// AppendLayout appends a layout without its texts as JSON, byte for byte what
// encoding/json makes of it. A layout of a long session names thousands of
// compartments and is written three times at every fold.
func AppendLayout(b []byte, layout []PairLayout) []byte {
	b = append(b, '[')
	for i := range layout {
		if i > 0 {
			b = append(b, ',')
		}
		b = layout[i].append(b)
	}
	return append(b, ']')
}

func (p *PairLayout) append(b []byte) []byte {
	b = appendField(b, `{"first":`, p.First)
	b = appendField(b, `,"last":`, p.Last)
	b = appendField(b, `,"count":`, p.Count)
	b = hex.AppendEncode(append(b, `,"source":"`...), p.Source[:])
	b = append(b, `","items":`...)
	if p.Items == nil {
		b = append(b, `null`...)
	} else {
		b = append(b, '[')
		for i := range p.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = p.Items[i].append(b)
		}
		b = append(b, ']')
	}
	b = appendField(b, `,"tokens":`, p.Tokens)
	b = append(b, `,"text":""`...)
	if !p.Rendered.IsZero() {
		b = hex.AppendEncode(append(b, `,"rendered":"`...), p.Rendered[:])
		b = append(b, '"')
	}
	return append(b, '}')
}

func (item *Item) append(b []byte) []byte {
	b = append(b, `{"compartments":`...)
	if item.Compartments == nil {
		b = append(b, `null`...)
	} else {
		b = appendList(b, item.Compartments)
	}
	b = appendField(b, `,"tier":`, item.Tier)
	b = appendField(b, `,"tokens":`, item.Tokens)
	if len(item.Pins) > 0 {
		b = appendList(append(b, `,"pins":`...), item.Pins)
	}
	if len(item.Bare) > 0 {
		b = appendList(append(b, `,"bare":`...), item.Bare)
	}
	if len(item.Eased) > 0 {
		b = appendList(append(b, `,"eased":`...), item.Eased)
	}
	return append(b, '}')
}

func appendField[N ~int | ~int64 | ~uint8](b []byte, name string, n N) []byte {
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

func appendList[N ~int64](b []byte, list []N) []byte {
	b = append(b, '[')
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

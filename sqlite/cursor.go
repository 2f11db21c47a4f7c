package sqlite

import "encoding/binary"

// cursor reads the varint records of this package front to back. After a
// malformed field bad is set and everything reads as zero, so that a decoder
// checks once, at the end.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

// int reads a count, size or other number that is never negative.
func (c *cursor) int() int {
	v := c.uvarint()
	if v > 1<<62 {
		c.fail()
		return 0
	}
	return int(v)
}

// varint reads a number that may be negative.
func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail()
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

// count reads how many elements follow, each of at least least bytes, so that a
// malformed count never allocates more than the record is long.
func (c *cursor) count(least int) int {
	n := c.int()
	if n > len(c.b)/least {
		c.fail()
		return 0
	}
	return n
}

// bytes reads n bytes, which alias the record.
func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.fail()
		return nil
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) str() string { return string(c.bytes(c.int())) }

func (c *cursor) fail() {
	c.bad = true
	c.b = nil
}

// done reports whether the record was read to its end without a fault.
func (c *cursor) done() bool { return !c.bad && len(c.b) == 0 }

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

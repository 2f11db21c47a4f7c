package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Forms of a blob, as bits of blobs.form.
const (
	formPacked = 1 << iota // bytes are a zstd frame
	formCut                // bytes name the payloads that were taken out, then what is left
	formEcho               // bytes name other blobs, then a zstd frame made with their content as dictionary
)

const (
	packBytes   = 200     // shorter blobs are stored as they are
	largestBlob = 1 << 30 // bytes; no frame may claim more
)

var errMalformed = errors.New("malformed record")

// packer compresses with reused encoders. It may be used from any goroutine.
type packer struct {
	once sync.Once
	err  error
	enc  *zstd.Encoder
	dec  *zstd.Decoder
}

// start makes the coders at first use: a store that is only opened needs none.
func (p *packer) start() error {
	p.once.Do(func() {
		p.enc, p.err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true))
		if p.err == nil {
			p.dec, p.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(largestBlob))
		}
	})
	return p.err
}

// pack compresses content if that saves at least an eighth, and says in which
// form the bytes are.
func (p *packer) pack(content []byte) (form int, packed []byte, err error) {
	if len(content) < packBytes {
		return 0, content, nil
	}
	if err := p.start(); err != nil {
		return 0, nil, fmt.Errorf("start zstd: %w", err)
	}
	packed = p.enc.EncodeAll(content, make([]byte, 0, len(content)/2+64))
	if len(packed) > len(content)-len(content)/8 {
		return 0, content, nil
	}
	return formPacked, packed, nil
}

// frame compresses content whatever it saves.
func (p *packer) frame(content []byte) ([]byte, error) {
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("start zstd: %w", err)
	}
	return p.enc.EncodeAll(content, nil), nil
}

// unpack undoes pack and frame.
func (p *packer) unpack(form int, bytes []byte) ([]byte, error) {
	if form&formPacked == 0 {
		return bytes, nil
	}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("start zstd: %w", err)
	}
	content, err := p.dec.DecodeAll(bytes, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return content, nil
}

func (p *packer) close() {
	p.once.Do(func() { p.err = errors.New("closed") })
	if p.dec != nil {
		p.dec.Close()
	}
	if p.enc != nil {
		_ = p.enc.Close() // nothing was streamed through it
	}
}

// ref is one payload that was taken out of a document.
type ref struct {
	gap int   // bytes of the rest that stand before it
	key int64 // of the payload
}

// encodeCut writes the record of a document whose payloads were taken out.
func encodeCut(refs []ref, rest []byte) []byte {
	b := make([]byte, 0, len(rest)+len(refs)*8+4)
	b = binary.AppendUvarint(b, uint64(len(refs)))
	for _, r := range refs {
		b = binary.AppendUvarint(b, uint64(r.gap))
		b = binary.AppendUvarint(b, uint64(r.key))
	}
	return append(b, rest...)
}

// decodeCut reads what encodeCut wrote. rest aliases record.
func decodeCut(record []byte) (refs []ref, rest []byte, err error) {
	c := cursor{b: record}
	n := c.count(2)
	refs = make([]ref, n)
	total := 0
	for i := range refs {
		refs[i] = ref{gap: c.int(), key: int64(c.uvarint())}
		total += refs[i].gap
		if refs[i].gap < 0 || total < 0 {
			return nil, nil, errMalformed
		}
	}
	if c.bad || total > len(c.b) {
		return nil, nil, errMalformed
	}
	return refs, c.b, nil
}

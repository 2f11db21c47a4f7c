package sqlite

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"ctxplugin/compartments"
)

// ownToolPrefix begins the names of our own tools.
const ownToolPrefix = "ctx_"

const (
	echoSources = 256     // most documents that an echo may be made of
	echoBytes   = 4 << 20 // most bytes of their JSON
)

// How an echo's frame stands for its content.
const (
	echoRaw    = 0 // the frame holds the inside of the JSON string
	echoQuoted = 1 // the frame holds the decoded text; quote makes the string of it
)

// putEcho stores a result of one of our own tools as its difference to the
// messages that the call asked for, or like any payload if that saves little.
func (w *writing) putEcho(session int64, content, input []byte) (int64, error) {
	hash := compartments.Hash(sha256.Sum256(content))
	key, err := w.payload(hash)
	if err != nil || key != 0 {
		return key, err
	}
	form, packed, err := w.pack.pack(content)
	if err != nil {
		return 0, err
	}
	sources, err := w.echoSources(session, input)
	if err != nil {
		return 0, err
	}
	var record []byte
	if len(sources) > 0 {
		if record, err = w.echoRecord(content, sources); err != nil {
			return 0, err
		}
	}
	if record == nil || len(record) > len(packed)/4*3 {
		return w.insert(packed, hash, len(content), form, true)
	}
	if key, err = w.insert(record, hash, len(content), formEcho, true); err != nil {
		return 0, err
	}
	for _, source := range sources {
		if err := w.use(key, source); err != nil {
			return 0, err
		}
	}
	return key, nil
}

// echoArguments name what a call asked for. Each may be a number or a string.
type echoArguments struct {
	First       json.RawMessage `json:"first"`
	Last        json.RawMessage `json:"last"`
	Message     json.RawMessage `json:"message"`
	Compartment json.RawMessage `json:"compartment"`
}

// echoSources finds the documents that a call's result repeats. What is itself
// made of echoes is left out, so that reading one never leads on to the next.
func (w *writing) echoSources(session int64, input []byte) ([]int64, error) {
	var args echoArguments
	if json.Unmarshal(input, &args) != nil {
		return nil, nil // arguments of another shape name nothing
	}
	first, last := integer(args.First), integer(args.Last)
	if id := integer(args.Compartment); id > 0 {
		if _, err := w.c.row(w.ctx, `SELECT first, last FROM compartments WHERE session = ? AND id = ?`,
			[]any{session, id}, &first, &last); err != nil {
			return nil, err
		}
	}
	if len(args.Message) > 0 {
		var id string
		if json.Unmarshal(args.Message, &id) == nil {
			if _, err := w.c.row(w.ctx, `SELECT ordinal FROM messages WHERE session = ? AND id = ?`, []any{session, id}, &first); err != nil {
				return nil, err
			}
		}
		if first == 0 {
			first = integer(args.Message)
		}
		last = first
	}
	switch {
	case first == 0:
		first = last
	case last == 0:
		last = first
	}
	if first == 0 {
		return nil, nil
	}
	var sources []int64
	total := 0
	err := w.c.rows(w.ctx, `SELECT d.key, d.size FROM messages m JOIN blobs d ON d.key = m.document
		WHERE m.session = ? AND m.ordinal BETWEEN ? AND ? AND NOT EXISTS (
			SELECT 1 FROM uses u JOIN blobs p ON p.key = u.used WHERE u.user = d.key AND p.form & 4)
		ORDER BY m.ordinal LIMIT ?`, []any{session, min(first, last), max(first, last), echoSources},
		func(r *sql.Rows) error {
			var key int64
			var size int
			err := r.Scan(&key, &size)
			if total += size; total <= echoBytes {
				sources = append(sources, key)
			}
			return err
		})
	return sources, err
}

// integer reads a whole number, quoted or not; 0 if it is none.
func integer(raw json.RawMessage) int64 {
	n, err := strconv.ParseInt(string(bytes.Trim(raw, `" `)), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// echoRecord makes the bytes of an echo, or nil if they would not read back.
func (w *writing) echoRecord(content []byte, sources []int64) ([]byte, error) {
	dict, err := w.echoDictionary(sources)
	if err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(dictionaryID(dict), dict), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, fmt.Errorf("start zstd: %w", err)
	}
	defer encoder.Close()
	way, text := byte(echoQuoted), unquote(make([]byte, 0, len(content)), content)
	if !bytes.Equal(quote(make([]byte, 0, len(content)), text), content) {
		way, text = echoRaw, content
	}
	record := []byte{way}
	record = binary.AppendUvarint(record, uint64(len(sources)))
	for _, key := range sources {
		record = binary.AppendUvarint(record, uint64(key))
	}
	record = encoder.EncodeAll(text, record)
	back, err := w.echoContent(blob{size: len(content), bytes: record})
	if err != nil || !bytes.Equal(back, content) {
		return nil, nil // the plain form serves
	}
	return record, nil
}

// echoContent undoes echoRecord.
func (r *reading) echoContent(b blob) ([]byte, error) {
	c := cursor{b: b.bytes}
	way := c.byte()
	sources := make([]int64, c.count(1))
	for i := range sources {
		sources[i] = int64(c.uvarint())
	}
	if c.bad {
		return nil, errMalformed
	}
	dict, err := r.echoDictionary(sources)
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(dictionaryID(dict), dict), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(largestBlob))
	if err != nil {
		return nil, fmt.Errorf("start zstd: %w", err)
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(c.b, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack an echo: %w", err)
	}
	if way == echoQuoted {
		return quote(make([]byte, 0, b.size), text), nil
	}
	return text, nil
}

// echoDictionary is what an echo may repeat: the JSON of each source as it is,
// and again with its escapes decoded. Stored echoes depend on it byte for byte,
// so it must not change.
func (r *reading) echoDictionary(sources []int64) ([]byte, error) {
	var dict []byte
	for _, key := range sources {
		content, err := r.document(key)
		if err != nil {
			return nil, err
		}
		dict = append(dict, content...)
		if bytes.IndexByte(content, '\\') >= 0 {
			dict = unquote(dict, content)
		}
	}
	return dict, nil
}

// dictionaryID is the identity that the frame carries, so that a dictionary
// which is not the one it was made with is refused.
func dictionaryID(dict []byte) uint32 {
	sum := sha256.Sum256(dict)
	id := binary.LittleEndian.Uint32(sum[:])
	if id == 0 {
		return math.MaxUint32 // 0 would mean none
	}
	return id
}

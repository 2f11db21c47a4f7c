// Command genranks writes o200k.bin.zst, the compact form of the o200k_base
// ranks that package tokens embeds. It is run by go generate from the tokens
// folder and never at build time or run time.
//
// Layout before compression: a little-endian uint32 number of tokens n, then n
// bytes holding the length of each token in rank order, then the bytes of all
// the tokens in rank order. The ranks are not written: they are 0..n-1.
// Lengths and bytes are kept apart because each compresses better alone, and
// because the last part is then usable as it is.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/klauspost/compress/zstd"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

const (
	source = "o200k_base.tiktoken"
	target = "o200k.bin.zst"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal("genranks: ", err)
	}
}

func run() error {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(source)
	if err != nil {
		return fmt.Errorf("load %s: %w", source, err)
	}
	raw, err := pack(ranks)
	if err != nil {
		return fmt.Errorf("pack %s: %w", source, err)
	}
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(4<<20),
		zstd.WithEncoderCRC(true))
	if err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	out := enc.EncodeAll(raw, nil)
	if err := enc.Close(); err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	if err := os.WriteFile(target, out, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	log.Printf("%s: %d tokens, %d bytes packed, %d bytes compressed", target, len(ranks), len(raw), len(out))
	return nil
}

func pack(ranks map[string]int) ([]byte, error) {
	inOrder := make([]string, len(ranks))
	for token, rank := range ranks {
		if rank < 0 || rank >= len(inOrder) {
			return nil, fmt.Errorf("rank %d is outside 0..%d", rank, len(inOrder)-1)
		}
		if token == "" || len(token) > math.MaxUint8 {
			return nil, fmt.Errorf("token of rank %d has %d bytes", rank, len(token))
		}
		if inOrder[rank] != "" {
			return nil, fmt.Errorf("rank %d is used twice", rank)
		}
		inOrder[rank] = token
	}
	if len(inOrder) == 0 {
		return nil, errors.New("no tokens")
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(inOrder)))
	for _, token := range inOrder {
		out = append(out, byte(len(token)))
	}
	for _, token := range inOrder {
		out = append(out, token...)
	}
	return out, nil
}

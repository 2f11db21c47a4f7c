package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ctxplugin/compartments"
	"ctxplugin/session"
)

// TestOtherProcess_IsSeenAtOnce: what another process changed is seen by whatever is
// asked next, also by what changes nothing itself.
func TestOtherProcess_IsSeenAtOnce(t *testing.T) {
	ctx := context.Background()
	for name, seen := range map[string]func(h *host, pin compartments.PinID) error{
		"session/pins": func(h *host, pin compartments.PinID) error {
			lines, err := h.s.Pins(ctx, h.id, false)
			if err == nil && (len(lines) != 1 || lines[0].Pin != pin) {
				err = fmt.Errorf("pins %+v", lines)
			}
			return err
		},
		"session/unpin": func(h *host, pin compartments.PinID) error {
			_, err := h.s.Unpin(ctx, session.UnpinRequest{Session: h.id, By: compartments.ByUser, Pin: pin})
			return err
		},
		"ctx_unpin": func(h *host, pin compartments.PinID) error {
			_, err := h.s.Unpin(ctx, session.UnpinRequest{Session: h.id, By: compartments.ByModel, Pin: pin})
			if err == nil || !strings.Contains(err.Error(), "only the user ends it") {
				return fmt.Errorf("refused with %v", err)
			}
			return nil
		},
		"a pin once more": func(h *host, pin compartments.PinID) error {
			if reply := h.pin(0, 0, ""); !reply.Again || reply.Pin.Pin != pin {
				return fmt.Errorf("%+v", reply)
			}
			return nil
		},
		"dry run": func(h *host, _ compartments.PinID) error {
			next, err := h.s.Preview(ctx, h.id, h.now)
			if err == nil && next.Pins != 1 {
				err = fmt.Errorf("%d pins wait", next.Pins)
			}
			return err
		},
		"explain": func(h *host, _ compartments.PinID) error {
			h.pinElsewhere(t, session.PinRequest{First: 1, Last: 4, Class: compartments.Discardable})
			x, err := h.s.Explain(ctx, h.id, 0)
			if err != nil {
				return err
			}
			for _, c := range x.Compartments {
				if c.First == 1 && c.Retention == "discardable" {
					return nil
				}
			}
			return fmt.Errorf("%+v", x.Compartments)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, 16_000)
			fold(h, 3, 2000)
			h.pins() // this process has read the session
			reply := h.pinElsewhere(t, session.PinRequest{ID: compartments.MessageID(h.name(0)), Part: 0})
			if err := seen(h, reply.Pin.Pin); err != nil {
				t.Error(err)
			}
		})
	}
}

// pinElsewhere sets a pin of the user's in another process.
func (h *host) pinElsewhere(t *testing.T, r session.PinRequest) session.PinReply {
	t.Helper()
	r.Session, r.By, r.Now = h.id, compartments.ByUser, h.now
	if r.First > 0 {
		r.Part = -1
	}
	reply, err := startSessions(t, testConfig(h.store)).Pin(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

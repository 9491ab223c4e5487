package ledger

// Ends reports whether an entry of this kind takes back the sign-off that it refers to. Merged, withdrawn, rejected and
// unreceipted entries end nothing: a pull request that was closed can be opened again, and what was signed on it is
// still signed.
func (k Kind) Ends() bool { return k == Amended || k == Revoked || k == Superseded }

// Standing tells which sign-offs nobody has taken back. It is the one meaning of "live": the gate, the merge queue, the
// schedule, the forge's record (L4) and replay all ask it. Entries may be added in any order, and Live is asked once
// all are there that could matter: those after the entry, and those that it carries. The zero value is ready.
type Standing struct {
	ended   map[string]bool   // entries that a later one takes back
	carries map[string]string // a carried entry to the one that it carries
}

// Add takes note of an entry.
func (s *Standing) Add(hash string, r *Receipt) {
	if s.ended == nil {
		s.ended, s.carries = map[string]bool{}, map[string]string{}
	}
	switch {
	case r.Kind.Ends():
		s.ended[r.RefersTo] = true
	case r.Kind == Carried:
		s.carries[hash] = r.RefersTo
	}
}

// Live reports whether an entry signs something off that nobody has taken back: neither the entry, nor one that it
// carries.
func (s *Standing) Live(hash string, r *Receipt) bool {
	if !r.Kind.Live() || s.ended[hash] {
		return false
	}
	// A carried entry has no approval of its own, so it falls with the one whose approval it carries.
	for earlier := r.RefersTo; earlier != ""; earlier = s.carries[earlier] {
		if s.ended[earlier] {
			return false
		}
	}
	return true
}

// Live returns those entries, of all of one pull request or of a whole ledger, that sign something off and that nobody
// has taken back.
func Live(entries []Entry) []Entry {
	var s Standing
	for _, e := range entries {
		s.Add(e.Hash, e.Receipt)
	}
	var out []Entry
	for _, e := range entries {
		if s.Live(e.Hash, e.Receipt) {
			out = append(out, e)
		}
	}
	return out
}

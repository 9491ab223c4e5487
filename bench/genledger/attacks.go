package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// allFixtures gives every fixture. The codes are stated from the specification of each attack and of each code, not
// from what a verification said.
func allFixtures() []*branch {
	var all []*branch
	for _, group := range [][]*branch{soundFixtures(), entryAttacks(), fileAttacks(), objectAttacks(), historyAttacks(),
		pinnedAttacks(), recordAttacks()} {
		all = append(all, group...)
	}
	return all
}

// goodWith is the good ledger after a change to its newest commit.
func goodWith(change func(*branch)) *branch {
	b := goodLedger()
	change(b)
	return b
}

// soundFixtures is ledgers that look odd and are good.
func soundFixtures() []*branch {
	late := goodLedger()
	early := storetest.Sample(70)
	early.Approval.Review.SubmittedAt = "2026-10-01T08:00:00Z"
	early.Checklist[0].At = "2026-10-01T08:00:00Z"
	late.appendEntry(storetest.Key(early))
	script := ledgerOf(func(n int64) ledger.Receipt {
		r := storetest.Sample(n)
		const evil = `</script><script>document.title="owned"</script><img src=x onerror=alert(1)>`
		r.Findings[0].Message, r.Run.Project, r.Approval.Approver.Login = evil, evil, evil
		r.Agent.Name, r.Submission.Path, r.FlightSheet.Slug = evil, evil, evil
		return storetest.Key(r)
	})
	return []*branch{
		goodLedger().describe("good", "six entries, each in a commit", ledger.L1),
		late.describe("good-late-minting", "an entry signed before the ones it follows, and minted late", ledger.L1),
		script.describe("good-script", "script in the strings of every receipt; the ledger is good, a page must show it "+
			"as text", ledger.L1),
	}
}

// entryAttacks is attacks on what an entry says and where it stands.
func entryAttacks() []*branch {
	return slices.Concat(editedEntries(), lyingEntries(), misplacedEntries())
}

// editedEntries are entries whose bytes were changed in place.
func editedEntries() []*branch {
	return []*branch{
		goodWith(func(b *branch) { b.editEntry(2, `"model":"example-70b"`, `"model":"example-99b"`, false) }).
			describe("tampered-edit", "an entry edited under its old name", ledger.L1, ledger.CodeName,
				ledger.CodeHeadLies).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { b.editEntry(2, `"model":"example-70b"`, `"model":"example-99b"`, true) }).
			describe("tampered-edit-renamed", "an entry edited and named anew", ledger.L1, ledger.CodeParent,
				ledger.CodeHeadLies, ledger.CodeCommitChain).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { b.editEntry(2, `"path":"evidence/t12.csv"`, `"path":"evidence/t13.csv"`, false) }).
			describe("tampered-evidence", "the evidence of an entry swapped", ledger.L1, ledger.CodeName,
				ledger.CodeHeadLies).seenInFull(ledger.CodeRewritten),
	}
}

// lyingEntries hash and chain as they should, and say what does not follow from themselves.
func lyingEntries() []*branch {
	return []*branch{
		goodWith(func(b *branch) {
			r := storetest.Sample(7)
			b.forgeReceipt(r, `"subject_digest":"`+r.Approval.SubjectDigest,
				`"subject_digest":"`+storetest.Sample(8).Approval.SubjectDigest)
		}).
			describe("tampered-subject", "an entry whose approval covers another sheet, submission and evidence; all "+
				"around it is right", ledger.L1, ledger.CodeInvalid),
		goodWith(func(b *branch) {
			r := storetest.Sample(7)
			b.forgeReceipt(r, r.Evidence[0].SHA256, storetest.Sample(8).Evidence[0].SHA256)
		}).
			describe("tampered-subject-evidence", "an entry with other evidence than was approved; all around it is right",
				ledger.L1, ledger.CodeInvalid),
		goodWith(lieIn(`"score":"96.4"`, `"score":"-5"`)).describe("tampered-score", "a score that the counts do not make",
			ledger.L1, ledger.CodeInvalid),
		goodWith(lieIn(`"severity":"noncritical"`, `"severity":"critical"`)).
			describe("tampered-severity", "a critical finding in a jelly receipt", ledger.L1, ledger.CodeInvalid),
		goodWith(lieIn(`"recommended_action":"resubmit"`, `"recommended_action":"approve"`)).
			describe("tampered-action", "an action that the findings do not recommend", ledger.L1, ledger.CodeInvalid),
		goodWith(lieIn(`"client_ready":false`, `"client_ready":true`)).
			describe("tampered-ready", "work with a defect, said to be ready", ledger.L1, ledger.CodeInvalid),
		goodWith(lieIn(`"rule_ids":["dscr"]`, `"rule_ids":["dscr","ltv"]`)).
			describe("tampered-flagged", "a finding of two rules where one is counted", ledger.L1, ledger.CodeInvalid),
		goodWith(func(b *branch) {
			r := storetest.Sample(7)
			shown := string(must(canonical.Marshal(struct {
				Findings []ledger.Finding `json:"findings"`
			}{r.Findings})))
			b.forgeReceipt(r, strings.TrimPrefix(strings.TrimSuffix(shown, "}"), "{")+",", "")
		}).
			describe("tampered-cut", "findings taken out, their number kept", ledger.L1, ledger.CodeInvalid),
		goodWith(func(b *branch) {
			r := storetest.Sample(7)
			low := r.Findings[0]
			low.Tier = "low"
			r.Findings = append(r.Findings, low)
			b.forgeReceipt(storetest.Judged(r, 27, 0), `"high":0,"low":1,"mid":1`, `"high":0,"low":0,"mid":2`)
		}).
			describe("tampered-tiers", "a low finding counted as a mid one", ledger.L1, ledger.CodeInvalid),
		goodWith(func(b *branch) {
			r := storetest.Sample(7)
			r.Accepted = []ledger.Waiver{{RuleID: "dscr", Reason: "the lender knows", By: "rosa",
				At: r.Approval.Review.SubmittedAt}}
			b.forgeReceipt(r, `"rule_id":"dscr"`, `"rule_id":"ltv"`)
		}).
			describe("tampered-accepted", "a finding accepted that is not there", ledger.L1, ledger.CodeInvalid),
		goodWith(func(b *branch) {
			r := storetest.Clean(storetest.Sample(7))
			at := r.Checklist[0].At
			b.forgeReceipt(r, `"checklist":[{"answer":"satisfied","at":"`+at+`","by":"rosa","id":"site_visited"}]`,
				`"checklist":[{"answer":"flag","at":"`+at+`","by":"rosa","id":"site_visited","note":"nobody was `+
					`there"}]`)
		}).
			describe("tampered-honey", "honey where a person said no", ledger.L1, ledger.CodeInvalid),
		goodWith(func(b *branch) {
			_, first := b.entryAt(0)
			r := storetest.Carried(storetest.Sample(0), canonical.SHA256Hex(first))
			r.Evidence = storetest.Sample(8).Evidence
			b.appendEntry(storetest.Key(r))
		}).
			describe("tampered-carried-evidence", "a sign-off carried over to other evidence", ledger.L1,
				ledger.CodeReference),
	}
}

// misplacedEntries stand where they do not belong, or are of a form that no writer has.
func misplacedEntries() []*branch {
	foreign, again, replayed := storetest.Sample(7), storetest.Sample(3), storetest.Sample(2)
	foreign.Repository.ID = 9
	again.Approval.Approver.Permission = "admin"
	replayed.PullRequest.Number = 900
	restored := goodLedger()
	whole := restored.commits
	restored.commits = whole[:4]
	restored.editEntry(1, `"model":"example-70b"`, `"model":"example-99b"`, false)
	restored.commits = whole
	return []*branch{
		goodWith(swapEntries).
			describe("tampered-reorder", "two entries in each other's place", ledger.L1, ledger.CodeMisplaced,
				ledger.CodeParent, ledger.CodeHeadLies, ledger.CodeCommitChain).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { b.removeEntry(2) }).
			describe("tampered-drop-middle", "an entry dropped", ledger.L1, ledger.CodeGap, ledger.CodeHeadLies,
				ledger.CodeCommitChain).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { b.removeEntry(0) }).
			describe("tampered-drop-first", "the first entry dropped", ledger.L1, ledger.CodeGap, ledger.CodeReference,
				ledger.CodeHeadLies, ledger.CodeInfoLies, ledger.CodeCommitChain).seenInFull(ledger.CodeRewritten),
		goodWith(insertEntry).describe("tampered-insert", "another entry in between, with the same seq", ledger.L1,
			ledger.CodeTwin, ledger.CodeParent, ledger.CodeHeadLies, ledger.CodeCommitChain),
		goodWith(forgeEntry).describe("tampered-forged", "a well-formed entry by somebody who does not know the tree",
			ledger.L1,
			ledger.CodeLog, ledger.CodeHeadLies),
		goodWith(func(b *branch) { b.appendEntry(storetest.Key(foreign)) }).
			describe("tampered-replay-repository", "an entry that was signed off in another repository", ledger.L1,
				ledger.CodeRepository),
		goodWith(func(b *branch) { b.appendEntry(again) }).describe("tampered-twice", "one sign-off twice", ledger.L1,
			ledger.CodeDuplicate),
		goodWith(func(b *branch) {
			b.appendEntry(storetest.Observed(storetest.Sample(1), ledger.Merged, canonical.SHA256Hex(nil)))
		}).
			describe("tampered-reference", "an entry that refers to none of this ledger", ledger.L1, ledger.CodeReference),
		goodWith(func(b *branch) { b.editEntry(5, `"seq":5`, `"seq": 5`, true) }).
			describe("tampered-non-canonical", "one space more, under the right hash", ledger.L1, ledger.CodeNotCanonical,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		goodWith(func(b *branch) { b.editEntry(5, `"actor":"rosa"`, "\"actor\":\"\u202easor\"", true) }).
			describe("tampered-bidi-text", "a name that is displayed backwards", ledger.L1, ledger.CodeNotCanonical,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		goodWith(func(b *branch) { b.editEntry(5, "eval-receipt/v1", "eval-receipt/v9", true) }).
			describe("tampered-unknown-schema", "a schema that this version does not know", ledger.L1,
				ledger.CodeUnknownSchema, ledger.CodeHeadLies, ledger.CodeCommitChain),
		goodWith(func(b *branch) { b.editEntry(5, "eval-receipt/v1", "eval-receipt/v0", true) }).
			describe("tampered-downgrade", "a schema of before the first version", ledger.L1, ledger.CodeUnknownSchema,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		goodWith(func(b *branch) { b.editEntry(5, `"kind":"merged"`, `"kind":"approved"`, true) }).
			describe("tampered-no-approval", "a receipt that nobody signed", ledger.L1, ledger.CodeInvalid,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		restored.describe("tampered-edited-and-restored", "an entry edited in one commit and restored in the next",
			ledger.L1).seenInFull(ledger.CodeRewritten),
	}
}

// lieIn is one edit of an entry that is otherwise right, hash and chain included.
func lieIn(old, with string) func(b *branch) {
	return func(b *branch) { b.forgeReceipt(storetest.Sample(7), old, with) }
}

func swapEntries(b *branch) {
	x, y := b.removeEntry(2), b.removeEntry(3)
	b.putEntry(2, y)
	b.putEntry(3, x)
}

func insertEntry(b *branch) {
	head := ledger.NewHead()
	for seq := range int64(3) {
		_, data := b.entryAt(seq)
		head = must(head.Append(data))
	}
	_, taken := b.entryAt(3)
	b.putEntry(3, storetest.Twin(head, taken, true))
}

// forgeEntry adds an entry, and a commit that names it, but neither the right tree nor HEAD.json.
func forgeEntry(b *branch) {
	zeros := strings.Repeat("0", 63) + "1"
	head := ledger.Head{Count: 6, Tip: b.parseHead().Tip, Root: zeros, Edge: []string{zeros, zeros}}
	data := must(ledger.Mint(head, storetest.Sample(77)))
	e := ledger.Entry{Hash: canonical.SHA256Hex(data), Bytes: data, Receipt: must(ledger.Parse(data))}
	b.commitBatch(ledger.Batch{Message: ledger.Message([]ledger.Entry{e}, head.Tip)})
	b.putEntry(6, data)
}

// sheetPath is where a sheet is kept.
func sheetPath(hash string) string { return ledger.Place{Class: ledger.SheetFile, Hash: hash}.String() }

// firstLayout turns a ledger into one of before the first release: receipts/000/012/, pr/000/00123/ and
// sheets/<hash>.json.
func firstLayout(b *branch) {
	for i, c := range b.commits {
		files := map[string]file{}
		for path, f := range c.files {
			p := must(ledger.ParsePath(path))
			switch p.Class {
			case ledger.PullAlias:
				path = fmt.Sprintf("pr/%03d/%05d/%09d-%s.json", p.Pull/100_000, p.Pull%100_000, p.Seq, p.Hash)
			case ledger.EntryFile:
				path = fmt.Sprintf("receipts/%03d/%03d/%09d-%s.json", p.Seq/1_000_000, p.Seq/1_000%1_000, p.Seq, p.Hash)
			case ledger.SheetFile:
				path = "sheets/" + p.Hash + ".json"
			case ledger.InfoFile:
				f.data = bytes.Replace(f.data, []byte(ledger.InfoFormat), []byte(ledger.FirstInfoFormat), 1)
			}
			files[path] = f
		}
		b.commits[i].files = files
	}
}

// fileAttacks is attacks on the closed world of names.
func fileAttacks() []*branch {
	extra := func(name, about, path string) *branch {
		return goodWith(func(b *branch) { b.setFile(path, "x") }).describe(name, about, ledger.L1, ledger.CodeUnknownFile)
	}
	mode := func(name, about, mode, id string) *branch {
		return goodWith(func(b *branch) {
			b.tipCommit().files[ledger.PagePath] = file{mode: mode, data: []byte("HEAD.json"),
				id: id}
		}).
			describe(name, about, ledger.L1, ledger.CodeMode)
	}
	alias := func(b *branch, class ledger.Class) string {
		path, _ := b.entryAt(3)
		p := must(ledger.ParsePath(path))
		p.Class = class
		if class == ledger.PullAlias {
			p.Pull = 4
		}
		if class == ledger.HashAlias {
			p.Seq = 0
		}
		return p.String()
	}
	other := canonical.SHA256Hex([]byte("other"))
	return []*branch{
		extra("tampered-extra-file", "a file that no ledger has", "notes.txt"),
		extra("tampered-case-fold", "a twin for file systems that fold case", "head.json"),
		extra("tampered-case-fold-directory", "a directory that a file system may take for another",
			"Receipts/000/00/00/x"),
		extra("tampered-dot-git", "a .git for whoever checks the branch out", ".git/config"),
		extra("tampered-dot-dot", "a way out of the directory", "../x"),
		extra("tampered-homoglyph", "a Cyrillic letter in HEAD.json", "\u041dEAD.json"),
		extra("tampered-bidi-name", "a name that is displayed backwards", "receipts/000/00/00/\u202enosj.x"),
		extra("tampered-depth", "three hundred directories, one in the other", strings.Repeat("d/", 300)+"x"),
		goodWith(func(b *branch) {
			for i := range 5000 {
				b.setFile(fmt.Sprintf("x%04d", i), "x")
			}
		}).describe("tampered-count", "thousands of names", ledger.L1, ledger.CodeUnknownFile, ledger.CodeTooMany),
		mode("tampered-symlink", "a link in place of a file", gitobject.ModeSymlink, ""),
		mode("tampered-executable", "an executable", gitobject.ModeExec, ""),
		mode("tampered-submodule", "a submodule", gitobject.ModeModule, strings.Repeat("ab", 20)),
		mode("tampered-directory", "a directory in place of a file", gitobject.ModeTree,
			gitobject.ID(gitobject.Tree, nil)),
		goodWith(func(b *branch) { delete(b.tipCommit().files, alias(b, ledger.HashAlias)) }).
			describe("tampered-alias-missing", "an entry that cannot be found by its hash", ledger.L1,
				ledger.CodeAliasMissing).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { _, data := b.entryAt(1); b.setFile(alias(b, ledger.PullAlias), string(data)) }).
			describe("tampered-alias-differs", "another entry where a pull request's is looked up", ledger.L1,
				ledger.CodeAliasDiffers).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { b.setFile(ledger.Place{Class: ledger.HashAlias, Hash: other}.String(), "other") }).
			describe("tampered-alias-orphan", "a receipt beside the chain", ledger.L1, ledger.CodeAliasOrphan),
		goodWith(func(b *branch) { b.setFile(ledger.AttributesPath, "* text eol=crlf\n") }).
			describe("tampered-attributes", "line ends that change on a check-out", ledger.L1,
				ledger.CodeAttributes).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { b.setFile(sheetPath(ledger.SheetHash(sheet)), "shoot") }).
			describe("tampered-sheet", "a rulebook edited", ledger.L1, ledger.CodeSheet).seenInFull(ledger.CodeRewritten),
		goodWith(func(b *branch) { b.setFile(sheetPath(other), "other") }).
			describe("tampered-sheet-orphan", "a rulebook that no receipt names", ledger.L1, ledger.CodeSheetOrphan),
		goodWith(func(b *branch) { b.setFile(ledger.HeadPath, string(b.commits[2].files[ledger.HeadPath].data)) }).
			describe("tampered-head-lies", "HEAD.json of an earlier state", ledger.L1, ledger.CodeHeadLies),
		goodWith(func(b *branch) { b.setFile(ledger.HeadPath, "{}") }).
			describe("tampered-head-unreadable", "HEAD.json that says nothing", ledger.L1, ledger.CodeHeadUnreadable),
		goodWith(func(b *branch) {
			b.setFile(ledger.InfoPath, strings.Replace(string(b.tipCommit().files[ledger.InfoPath].data), "ledger/v2",
				"ledger/v3", 1))
		}).describe("tampered-info-version", "LEDGER.json of a version that this one does not know", ledger.L1,
			ledger.CodeInfoUnreadable).seenInFull(ledger.CodeRewritten),
		goodWith(firstLayout).describe("tampered-first-layout", "a ledger of the layout before the first release", ledger.L1,
			ledger.CodeUnknownFile, ledger.CodeAliasOrphan, ledger.CodeHeadLies, ledger.CodeInfoUnreadable,
			ledger.CodeCommitChain),
		goodWith(func(b *branch) {
			info := ledger.Info{Format: ledger.InfoFormat, Genesis: other, Repository: ledger.Repository{ID: 4242,
				Name: "acme/underwriting"}}
			b.setFile(ledger.InfoPath, string(must(info.Marshal())))
		}).describe("tampered-info-lies", "LEDGER.json names another genesis", ledger.L1,
			ledger.CodeInfoLies).seenInFull(ledger.CodeRewritten),
	}
}

// objectAttacks is attacks on the repository that holds the ledger.
func objectAttacks() []*branch {
	huge := goodWith(func(b *branch) {
		b.tipCommit().files[ledger.PagePath] = file{mode: gitobject.ModeFile, id: strings.Repeat("cd", 20)}
	}).describe("tampered-huge-blob", "a file whose header says 1 GiB", ledger.L1, ledger.CodeSize)
	huge.fx.Loose = map[string][]byte{strings.Repeat("cd", 20): deflateText("blob 1073741824\x00" + strings.Repeat("\x00",
		64))}

	lost := goodLedger()
	_, data := lost.entryAt(5)
	lost.omit[gitobject.ID(gitobject.Blob, data)] = true
	lost.describe("tampered-lost-blob", "an entry whose object is not there", ledger.L1, ledger.CodeUnreadable,
		ledger.CodeHeadLies, ledger.CodeCommitChain)

	twice := goodLedger()
	twice.tipCommit().rawTree = func(entries []gitobject.Entry) []byte {
		sorted := must(gitobject.ParseTree(gitobject.EncodeTree(entries)))
		return gitobject.EncodeRawTree(append(sorted[:2:2], sorted[1:]...))
	}
	twice.describe("tampered-name-twice", "a directory with one name twice, of which git shows one", ledger.L1,
		ledger.CodeUnknownFile, ledger.CodeCommitChain)

	_, tip := goodLedger().objectsAndTip()
	replaced := goodLedger().describe("tampered-replace", "refs/replace shows another commit", ledger.L1,
		ledger.CodeReplaced)
	replaced.fx.Files = map[string]string{"refs/replace/" + tip: tip + "\n"}
	graft := goodLedger().describe("tampered-graft", "info/grafts cuts the history", ledger.L1, ledger.CodeReplaced)
	graft.fx.Files = map[string]string{"info/grafts": tip + "\n"}
	shallow := goodLedger().describe("tampered-shallow", "a clone of the newest commit alone", ledger.L1,
		ledger.CodeShallow)
	shallow.from, shallow.fx.Files = 5, map[string]string{"shallow": tip + "\n"}
	cut := goodLedger().describe("tampered-history-lost", "older commits are not there, and nothing says why", ledger.L1,
		ledger.CodeUnreadable)
	cut.from = 5
	return []*branch{huge, lost, twice, replaced, graft, shallow, cut}
}

func deflateText(text string) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return out.Bytes()
}

// Package comment writes what people read of a pull request's audit: the two checks, the one review, the job summary,
// annotations and comments on lines, and the step's outputs. Everything is made of an outcome.Outcome alone, and
// nothing is decided here.
//
// Text of a submission is hostile: it is shown as code spans and fences that it cannot leave (TestHostilePapers),
// outputs hold nothing of it, and every text keeps within what GitHub takes, because a longer one would be refused as a
// whole (TestPapersAreBounded). Sections share the room; what is left out is counted.
package comment

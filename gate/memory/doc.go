// Package memory is what the gate keeps in its own review of a pull request between one event and the next, in the
// block of HTML comments at the top of the review, which no reader sees and before which no text of a submission can
// stand:
//
//	<!-- referee:review/v1 pull=3 head=… digest=… run=… attempt=… -->
//	    whose review it is, and which run of the workflow wrote it (Marker)
//	<!-- referee:lost LOGIN -->
//	    somebody else edited the review: nothing in it is believed (Memory.Lost)
//	<!-- referee:pushers LOGIN … -->
//	    who opened the pull request or pushed to it (Pushers)
//	<!-- referee:receipts SEQ:HASH … -->
//	    the receipts that the gate vouches for (AnnouncedLine)
//	<!-- referee:heads v1 SHA=HASH,… -->
//	    earlier heads that failed (Heads)
//
// Every line is written and read by one pair of functions, strictly: what does not read back as it was written is not
// known (FuzzRecollect).
package memory

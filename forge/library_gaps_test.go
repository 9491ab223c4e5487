package forge

// unnoticed are the changed gates that no example or trip of their sheet notices, and that the sheet itself does not
// explain, by sheet. Each wants a trip, or a reason in the sheet's member "equivalent"; one that is noticed again fails
// the test until it is taken out of this list.
var unnoticed = map[string][]string{}

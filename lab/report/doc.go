// Package report shows what experiments found: one HTML page that needs no network,
// and a summary for a terminal.
//
// It owns how numbers are shown. It works none out beyond sums and shares, decides
// nothing, and reads no file; the same records give the same page, byte for byte.
//
// Charts are drawn once for a wide and once for a narrow page, and the style sheet
// shows the one that fits. Their colours are variables of the page, so that one
// drawing serves light and dark.
package report

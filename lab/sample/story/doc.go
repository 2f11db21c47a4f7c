// Package story turns a written script of a coding session into the file that
// `opencode export` would have written of it.
//
// A script says what people and the model said and which tools were called; the
// package adds what a program can know better: identifiers, times, token counts,
// and the output of tools that look at files. A small virtual project stands
// behind the tools, so that a file reads as the edits before it left it.
//
// The same script and project give the same bytes on every machine: there is no
// clock and no randomness, and lists are never taken from a map.
//
// # Script
//
// A script begins with `name: value` lines (title, directory, model, agent,
// start, system), then holds messages. A message begins with
//
//	--- user +3m
//	--- step +6s [aborted]
//
// where the second word is the time that has passed. Within a message:
//
//	plain lines        text
//	? words            reasoning
//	@file path         a mentioned file with the reads the host adds for it
//	@synthetic words   text that the host adds
//	@bulk name n       n generated lines within the text
//	> tool arguments   a call; the lines below it belong to it:
//	  ~ name=value     an option: exit, took, offset, limit, desc
//	  | words          one line of output
//	  >< name n        n generated lines of output
//	  <<<  …  >>>      a block: contents, a patch, a prompt; of an edit two blocks
//	  ! words          the call failed with this error
//	  !running         the call never ended
//	% commit           the project as it is now is what `% restore` goes back to
//	% restore path     undo the changes of a file
//	% remove path      delete a file
//	% replace path a => b
//	                   what a shell command did to a file
//
// A text line that begins with one of the marks is written with `\` before it.
//
// # Project
//
// A project is one text in which each file begins with a line `-- name --`; in it
// a line `@bulk name n` stands for n generated lines.
package story

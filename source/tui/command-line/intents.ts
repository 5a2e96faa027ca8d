/** What a user may want of the command line and of what it printed; the reducer knows it by the same name. */
export type CommandLineIntent =
	| 'history-before'
	| 'history-after'
	| 'output-up'
	| 'output-down'
	| 'output-page-up'
	| 'output-page-down'
	| 'output-first'
	| 'output-last'
	| 'output-left'
	| 'output-right';

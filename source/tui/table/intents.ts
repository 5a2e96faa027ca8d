/** What a user may want of the table of GPUs; the reducer knows it by the same name. */
export type TableIntent =
	| 'focus-next-gpu'
	| 'focus-previous-gpu'
	| 'focus-next-page'
	| 'focus-previous-page'
	| 'focus-first-gpu'
	| 'focus-last-gpu'
	| 'toggle-tag'
	| 'sort-next'
	| 'sort-previous'
	| 'invert-sort'
	| 'open-filter'
	| 'keep-filter'
	| 'drop-filter'
	| 'filter-user'
	| 'filter-mine'
	| 'clear-marks';

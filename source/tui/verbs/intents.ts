/** What a user may want done; the reducer opens a dialog for it, or says why not. */
export type VerbIntent =
	| 'open-reserve'
	| 'open-reserve-these'
	| 'open-wait'
	| 'open-release'
	| 'open-extend'
	| 'open-leave'
	| 'toggle-pause'
	| 'choose-next-process'
	| 'choose-previous-process'
	| 'choose-next-signal'
	| 'choose-previous-signal';

/** What reaches out of the state: the controller sees to it. */
export type OutwardIntent =
	| 'quit'
	| 'quit-now'
	| 'suspend'
	| 'refresh'
	| 'submit'
	/** The same, standing in line when there are not enough. */
	| 'submit-patiently'
	/** Asks which signal a process shall get, after a look of our own at the GPU. */
	| 'open-signal'
	| 'open-command'
	/** What the chosen line of an output leads to. */
	| 'open-line'
	| 'complete';

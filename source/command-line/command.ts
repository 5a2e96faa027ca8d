/** What a command is: a name, a summary, flags, and what it does. One file each; the help and the parser are built from it. */
import type {App} from '../app/contract.js';
import type {Config} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';

/** What only the pool or the config knows. */
export type KnownKind =
	| 'gpus'
	/** And the instances of those that MIG has split. */
	| 'parts'
	/** Of the instances that there are. */
	| 'mig-profiles'
	/** GPUs and instances whose reservation the asker may release ... */
	| 'own-gpus'
	/** ... or extend. */
	| 'timed-gpus'
	| 'drained-gpus'
	/** Keys of the policy that are set. */
	| 'policy-keys'
	/** Accounts and labels. */
	| 'users'
	/** Labels of the asker's own account. */
	| 'labels'
	/** The other hosts. */
	| 'hosts'
	/** Ids of reservations that the asker may change. */
	| 'leases'
	/** The asker's own entries in the queue. */
	| 'queue-entries';

/** A flag, whose long name is its key in {@link Flags}. `shortFlag`, `aliases` and `isMultiple` are the names that meow uses. */
export type Flag = {
	/** One letter. */
	readonly shortFlag?: string;
	/** Placeholder of its value in the help, such as `N`. Without one it is a switch. */
	readonly value?: string;
	/** The value of `--flag` alone. Another value is then attached by `=`, and never a word of its own. */
	readonly bare?: string;
	readonly summary: string;
	/** Other long names, which the help does not list. */
	readonly aliases?: readonly string[];
	/** The setting that it overrides. */
	readonly setting?: SettingPath;
	/** All its values count, not only the last: `-G 1 -G 3` is `-G 1,3`. */
	readonly isMultiple?: true;
	/** An empty value is as good as none: scripts give variables that may be empty. */
	readonly mayBeEmpty?: true;
	/** What can stand as its value, for completion. Those of a setting that is a choice need not be named. */
	readonly completes?: KnownKind | 'files' | readonly string[];
};

export type Flags = Readonly<Record<string, Flag>>;

/** What the user typed after the verb, parsed but not judged. */
export type Input = {
	/** Whether the flag, a switch or another, was typed. */
	readonly has: (flag: string) => boolean;
	/** The value of a flag as it was typed, those of one that may be given several times with commas between them; `true` or `false` of a switch. */
	readonly text: (flag: string) => string | undefined;
	/** Every value of a flag, in the order typed. */
	readonly texts: (flag: string) => readonly string[];
	/** Words that are no flags. */
	readonly words: readonly string[];
	/** What followed `--`; undefined when there was none. */
	readonly rest: readonly string[] | undefined;
	readonly config: Config;
	readonly grammar: Grammar;
};

/** What was typed, understood: a verb with its input, or a text that was asked for, such as a help. */
export type Understood = {readonly command: Command; readonly input: Input} | {readonly text: string};

/** The grammar of the command line itself, for a face that takes commands, too. */
export type Grammar = {
	/** The verbs, in the order of the help. */
	readonly verbs: readonly string[];
	/** @throws CanhazgpuError `usage` with the nearest verb. */
	readonly find: (verb: string) => Promise<Command>;
	/** @throws CanhazgpuError `usage`, `config`, as when it is typed in a shell. */
	readonly understand: (argv: readonly string[]) => Promise<Understood>;
};

export type Command = {
	readonly name: string;
	readonly summary: string;
	/** How it is typed, after the verb. */
	readonly usage: string;
	/** Lines of the help under the flags: what they cannot say. */
	readonly notes?: readonly string[];
	readonly examples: ReadonlyArray<readonly [command: string, what: string]>;
	readonly flags: Flags;
	/** True for one that takes words besides flags. */
	readonly takesWords?: boolean;
	/** What the first of them can be, for completion. */
	readonly words?: readonly string[] | KnownKind;
	/** True for one that runs what follows `--`. */
	readonly takesRest?: boolean;
	/** Returns the exit code. */
	readonly run: (app: App, input: Input) => Promise<number>;
};

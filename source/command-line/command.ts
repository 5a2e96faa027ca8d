import type {App} from '../app/contract.js';
import type {Config} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';

/** Kinds of values that only the pool or the configuration knows. */
export type KnownKind =
	| 'gpus'
	/** GPUs, and the MIG instances of GPUs that are split. */
	| 'parts'
	| 'mig-profiles'
	/** GPUs and MIG instances that the user can release. */
	| 'own-gpus'
	/** GPUs and MIG instances whose reservation the user can extend. */
	| 'timed-gpus'
	| 'drained-gpus'
	/** Limits for the users and groups that the pool knows, with usual values. */
	| 'named-limits'
	/** Keys of the pool's policy that have a value. */
	| 'policy-keys'
	| 'users'
	| 'labels'
	| 'hosts'
	/** Ids of reservations that the user can change. */
	| 'leases'
	| 'queue-entries'
	/** Jobs and arrays of jobs. */
	| 'jobs'
	/** Jobs, each of which has its own output. */
	| 'single-jobs';

/** A flag. Its key in {@link Flags} is its long name. `shortFlag`, `aliases` and `isMultiple` are called the same in meow, the parser. */
export type Flag = {
	readonly shortFlag?: string;
	/** Placeholder of the value in the help, such as `N`. A flag without a placeholder is a switch and takes no value. */
	readonly value?: string;
	/** The value of the flag if it is typed alone. A flag that can be typed alone needs `=` before any other value. */
	readonly bare?: string;
	readonly summary: string;
	/** Other long names, which the help does not show. */
	readonly aliases?: readonly string[];
	readonly setting?: SettingPath;
	/** Whether all values of a repeated flag are used, not only the last: `-G 1 -G 3` means `-G 1,3`. */
	readonly isMultiple?: true;
	/** Whether an empty value is allowed and means that the flag is not set. Scripts pass variables that may be empty. */
	readonly mayBeEmpty?: true;
	/** Candidates for completion. Not needed if the flag's setting has fixed choices. */
	readonly completes?: KnownKind | 'files' | readonly string[];
	readonly completesAlso?: KnownKind;
};

export type Flags = Readonly<Record<string, Flag>>;

/** The parsed words after the name of the command, not yet validated. */
export type Input = {
	readonly has: (flag: string) => boolean;
	/** Returns the typed value: values joined by commas for a flag that can be repeated, `true` or `false` for a switch. */
	readonly text: (flag: string) => string | undefined;
	/** Returns every value of a repeated flag, in the order typed. */
	readonly texts: (flag: string) => readonly string[];
	readonly words: readonly string[];
	/** The words after `--`. Undefined without `--`. */
	readonly rest: readonly string[] | undefined;
	readonly config: Config;
	readonly grammar: Grammar;
};

/** The result of parsing a command line: a command with its input, or a text to print, such as a help. */
export type Understood = {readonly command: Command; readonly input: Input} | {readonly text: string};

/** The commands and the parser, passed to the monitor, in which users can also type commands. */
export type Grammar = {
	readonly commands: readonly string[];
	/** Returns a command. Throws `usage` with the nearest name if there is no such command. */
	readonly find: (name: string) => Promise<Command>;
	/** Parses a command line. Throws `usage` or `config`, as in a shell. */
	readonly understand: (argv: readonly string[]) => Promise<Understood>;
};

export type Command = {
	readonly name: string;
	readonly summary: string;
	/** The arguments as the help shows them. */
	readonly usage: string;
	/** Lines that the help shows below the flags. */
	readonly notes?: readonly string[];
	readonly examples: ReadonlyArray<readonly [command: string, what: string]>;
	readonly flags: Flags;
	readonly takesWords?: boolean;
	/** Whether the command takes several words, as in `cancel 7 8`. Only the completion uses this. */
	readonly takesSeveralWords?: boolean;
	readonly words?: readonly string[] | KnownKind;
	/** Whether the command takes another program's command line after `--`. */
	readonly takesRest?: boolean;
	/** Seconds that the command may take on another host. Default: enough for a login, a scan and a write. */
	readonly secondsElsewhere?: number | 'unlimited';
	readonly run: (app: App, input: Input) => Promise<number>;
};

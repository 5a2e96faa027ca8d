/** The types of a command, from which the help and the parser are built. */
import type {App} from '../app/contract.js';
import type {Config} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';

/** Kinds of values that only the pool or the configuration knows. */
export type KnownKind =
	| 'gpus'
	/** GPUs, and the instances of those that MIG has split. */
	| 'parts'
	| 'mig-profiles'
	/** GPUs and instances that the user can release. */
	| 'own-gpus'
	/** GPUs and instances whose reservation the user can extend. */
	| 'timed-gpus'
	| 'drained-gpus'
	/** Keys of the policy that are set. */
	| 'policy-keys'
	| 'users'
	/** Labels of the user's own account. */
	| 'labels'
	| 'hosts'
	/** Ids of reservations that the user can change. */
	| 'leases'
	/** The user's own entries in the queue. */
	| 'queue-entries';

/** A flag. Its long name is its key in {@link Flags}. `shortFlag`, `aliases` and `isMultiple` are meow's names. */
export type Flag = {
	readonly shortFlag?: string;
	/** Placeholder of the value in the help, such as `N`. A flag without one is a switch. */
	readonly value?: string;
	/** The value of `--flag` without a value. Other values must then be attached with `=`. */
	readonly bare?: string;
	readonly summary: string;
	/** Other long names, which the help does not list. */
	readonly aliases?: readonly string[];
	/** The setting that the flag overrides. */
	readonly setting?: SettingPath;
	/** Whether all values count, not only the last: `-G 1 -G 3` is `-G 1,3`. */
	readonly isMultiple?: true;
	/** Whether an empty value counts as no value, because scripts pass variables that may be empty. */
	readonly mayBeEmpty?: true;
	/** Candidates for completion. A flag of a setting with fixed choices needs none. */
	readonly completes?: KnownKind | 'files' | readonly string[];
};

export type Flags = Readonly<Record<string, Flag>>;

/** The parsed words after the command, not yet validated. */
export type Input = {
	readonly has: (flag: string) => boolean;
	/** Returns the typed value: joined by commas for a flag with several values, `true` or `false` for a switch. */
	readonly text: (flag: string) => string | undefined;
	/** Returns every value of a flag, in the order typed. */
	readonly texts: (flag: string) => readonly string[];
	/** The words that are not flags. */
	readonly words: readonly string[];
	/** The words after `--`. Undefined without `--`. */
	readonly rest: readonly string[] | undefined;
	readonly config: Config;
	readonly grammar: Grammar;
};

/** A parsed command line: a command with its input, or a requested text such as a help. */
export type Understood = {readonly command: Command; readonly input: Input} | {readonly text: string};

/** The grammar of the command line, for the monitor, which accepts commands, too. */
export type Grammar = {
	/** In the order of the help. */
	readonly commands: readonly string[];
	/** @throws CanhazgpuError `usage` with the nearest command. */
	readonly find: (name: string) => Promise<Command>;
	/** @throws CanhazgpuError `usage` or `config`, as in a shell. */
	readonly understand: (argv: readonly string[]) => Promise<Understood>;
};

export type Command = {
	readonly name: string;
	readonly summary: string;
	/** The arguments as the help shows them. */
	readonly usage: string;
	/** Lines below the flags of the help. */
	readonly notes?: readonly string[];
	readonly examples: ReadonlyArray<readonly [command: string, what: string]>;
	readonly flags: Flags;
	readonly takesWords?: boolean;
	/** Candidates for the first word, for completion. */
	readonly words?: readonly string[] | KnownKind;
	/** Whether the command takes another program's command line after `--`. */
	readonly takesRest?: boolean;
	readonly run: (app: App, input: Input) => Promise<number>;
};

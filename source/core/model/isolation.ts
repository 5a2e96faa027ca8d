/** Keeping a job from the GPUs that it was not granted. */

/** Levels of isolation: `require` refuses to start a job without it, `prefer` isolates if possible, `off` leaves every GPU accessible. */
export const isolationLevels = ['off', 'prefer', 'require'] as const;

export type IsolationLevel = (typeof isolationLevels)[number];

/** Isolation mechanisms in order of preference: bubblewrap, a systemd scope, a control group of version 1. */
export const fences = ['bwrap', 'systemd', 'cgroup'] as const;

export type Fence = (typeof fences)[number];

/** A part of a GPU that MIG has split off, by the ids of the driver. */
export type GrantedPart = {readonly gpuInstanceId: number; readonly computeInstanceId: number};

/** A GPU that a job was granted, as the last scan knew it. */
export type GrantedGpu = {
	readonly index: number;
	/** In the spelling of {@link normalizePciBusId}. */
	readonly pciBusId?: string;
	readonly uuid?: string;
	/** The parts that were granted; absent: the whole GPU. */
	readonly parts?: readonly GrantedPart[];
};

/** A setting of the kernel that keeps an account from having namespaces of its own. */
export type NamespaceSetting = {
	/** Name of the kernel setting, such as `user.max_user_namespaces`. */
	readonly name: string;
	readonly value: string;
	/** A value that allows them. */
	readonly wanted: string;
};

/** Why a job is not isolated. */
export type IsolationProblem =
	/** Simulated GPUs have no devices. */
	| {readonly kind: 'simulated'}
	/** There is no device of a GPU here, as under WSL. */
	| {readonly kind: 'no-devices'}
	/** Which device belongs to this GPU is unknown. */
	| {readonly kind: 'unknown-device'; readonly gpu: number}
	/** A program that does it is not installed. */
	| {readonly kind: 'no-program'; readonly program: 'bwrap' | 'nsenter' | 'systemd-run'}
	/** This mechanism needs root. */
	| {readonly kind: 'needs-root'; readonly fence: Fence}
	/** Systemd is not what runs this machine. */
	| {readonly kind: 'no-systemd'}
	/** Control groups of version 1 are not mounted here, or not those for devices. */
	| {readonly kind: 'no-device-groups'}
	/** The kernel gives this account no namespaces, because of these settings. */
	| {readonly kind: 'no-namespaces'; readonly settings: readonly NamespaceSetting[]}
	/** The program refused, in its own words, which are not sanitised. */
	| {readonly kind: 'refused'; readonly program: string; readonly words: string}
	| {readonly kind: 'slow'; readonly program: string; readonly seconds: number}
	/** The directory that the job starts in is another one inside. */
	| {readonly kind: 'no-directory'}
	/** The device of another GPU can still be opened. */
	| {readonly kind: 'foreign-opens'; readonly device: string}
	/** A device of a granted GPU cannot be opened. */
	| {readonly kind: 'granted-refuses'; readonly device: string};

/** An isolation that was proved: the job is started inside of it. */
type Isolated = {
	readonly kind: 'isolated';
	/** The mechanism in use, or undefined if there are no other GPUs. */
	readonly fence: Fence | undefined;
	/** Words that start a command inside; the command follows them. Empty: there is nothing to keep the job from. */
	readonly entrance: readonly string[];
	/** Cleans up after the job ended, or was not started. Never rejects. */
	readonly close: () => Promise<void>;
};

type NotIsolated = {readonly kind: 'not-isolated'; readonly problem: IsolationProblem};

/** Makes an isolation for a job with these GPUs, by this fence or by the first that holds, and proves it. Never rejects. */
export type Isolate = (granted: readonly GrantedGpu[], fence?: Fence) => Promise<Isolated | NotIsolated>;

/** The available mechanism, or why there is none. */
export type IsolationCheck = NotIsolated | {readonly kind: 'possible'; readonly fence: Fence};

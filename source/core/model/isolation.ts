/** Isolation from the GPUs of others. `off`: none. `prefer`: isolated if possible. `require`: a job that cannot be isolated is not started. */
export const isolationLevels = ['off', 'prefer', 'require'] as const;

export type IsolationLevel = (typeof isolationLevels)[number];

/** Isolation mechanisms in order of preference: bubblewrap, a systemd scope, a cgroup v1. */
export const fences = ['bwrap', 'systemd', 'cgroup'] as const;

export type Fence = (typeof fences)[number];

export type GrantedPart = {readonly gpuInstanceId: number; readonly computeInstanceId: number};

export type GrantedGpu = {
	readonly index: number;
	/** The PCI address, as written by {@link normalizePciBusId}. */
	readonly pciBusId?: string;
	readonly uuid?: string;
	readonly parts?: readonly GrantedPart[];
};

export type NamespaceSetting = {
	readonly name: string;
	readonly value: string;
	readonly wanted: string;
};

export type IsolationProblem =
	| {readonly kind: 'simulated'}
	/** No GPU has a device file, as under WSL. */
	| {readonly kind: 'no-devices'}
	| {readonly kind: 'unknown-device'; readonly gpu: number}
	| {readonly kind: 'no-program'; readonly program: 'bwrap' | 'nsenter' | 'systemd-run'}
	| {readonly kind: 'needs-root'; readonly fence: Fence}
	| {readonly kind: 'no-systemd'}
	/** The device controller of cgroup v1 is not mounted. */
	| {readonly kind: 'no-device-groups'}
	| {readonly kind: 'no-namespaces'; readonly settings: readonly NamespaceSetting[]}
	/** The program that isolates the job failed. `words` is its message, not sanitized. */
	| {readonly kind: 'refused'; readonly program: string; readonly words: string}
	| {readonly kind: 'slow'; readonly program: string; readonly seconds: number}
	/** Inside the sandbox, the path of the job's working directory leads to a different directory. */
	| {readonly kind: 'no-directory'}
	/** The device file of another GPU can still be opened from inside the isolation. */
	| {readonly kind: 'foreign-opens'; readonly device: string}
	| {readonly kind: 'granted-refuses'; readonly device: string};

type Isolated = {
	readonly kind: 'isolated';
	/** The mechanism in use. Undefined if the job has all GPUs, so that isolation is not needed. */
	readonly fence: Fence | undefined;
	/** A command prefix that starts the job in isolation. Empty without a mechanism. */
	readonly entrance: readonly string[];
	/** Cleans up after the job has ended, or if the job is not started after all. Never rejects. */
	readonly close: () => Promise<void>;
};

type NotIsolated = {readonly kind: 'not-isolated'; readonly problem: IsolationProblem};

/** Prepares the isolation of a job and tests it. Uses the mechanism `fence`, or else the first one that works. Never rejects. */
export type Isolate = (granted: readonly GrantedGpu[], fence?: Fence) => Promise<Isolated | NotIsolated>;

export type IsolationCheck = NotIsolated | {readonly kind: 'possible'; readonly fence: Fence};

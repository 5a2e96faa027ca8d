import {closest, distance} from 'fastest-levenshtein';

const sorted = (word: string): string => [...word].toSorted().join('');

/** Returns how many letters may differ. Longer words may differ in more letters, because almost any two short words are similar. */
const mostEdits = (word: string): number => Math.max(1, Math.floor(word.length / 3));

/** Returns a word that starts with the typed text, or that differs from it in few letters. */
export function nearest(word: string, words: readonly string[]): string | undefined {
	const [longer, ...others] = words.filter((other) => other.startsWith(word));
	if (longer !== undefined && others.length === 0) {
		return longer;
	}

	const guess = closest(word, [...words]);
	return distance(word, guess) <= mostEdits(word)
		? guess
		: words.find((other) => distance(word, other) === 2 && sorted(word) === sorted(other));
}

/** Names of the commands in Slurm, in other monitors, and in other tools. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
	'--version': ['version'],
	top: ['gpustat', 'monitor', 'nvitop', 'nvtop', 'tui', 'ui', 'watch'],
	status: ['free', 'gpus', 'info', 'list', 'ls', 'nvidia-smi', 'ps', 'show', 'sinfo', 'smi'],
	run: ['exec', 'sbatch', 'srun', 'start', 'submit'],
	reserve: ['alloc', 'allocate', 'acquire', 'book', 'claim', 'get', 'lock', 'salloc', 'take'],
	extend: ['prolong', 'renew'],
	release: ['drop', 'give-back', 'return', 'unlock', 'unreserve'],
	queue: ['line', 'squeue', 'waiting'],
	who: ['fuser', 'lsof', 'zombies', 'leak'],
	jobs: ['job', 'batch', 'gqueue', 'ts', 'tsp'],
	logs: ['log', 'output', 'tail'],
	cancel: ['abort', 'kill', 'scancel', 'stop'],
	wait: ['await', 'join'],
	retry: ['again', 'rerun', 'requeue', 'restart'],
	report: ['history', 'sacct', 'sreport', 'stats', 'usage'],
	web: ['dashboard', 'serve', 'server'],
	notify: ['alert', 'mail', 'notifications', 'remind', 'slack'],
	keep: ['daemon', 'keeper', 'reap', 'reaper', 'reclaim'],
	mcp: ['agent', 'agents', 'claude', 'codex', 'cursor'],
	events: ['audit'],
	doctor: ['check', 'diagnose'],
	completion: ['autocomplete', 'completions'],
	admin: ['create', 'drain', 'init', 'policy', 'setup', 'undrain'],
};

export const otherNameOf = (word: string): string | undefined =>
	Object.entries(otherNames).find(([, names]) => names.includes(word.toLowerCase()))?.[0];

/** Names that Slurm or another command uses for a flag, by the name of the flag: `status` has `--remote`, but `run` has `--on`. */
const otherFlags: Readonly<Record<string, readonly string[]>> = {
	duration: ['time'],
	gpus: ['gpus-per-node', 'gpus-per-task', 'gres'],
	note: ['comment', 'job-name'],
	on: ['host', 'node', 'remote'],
	remote: ['host', 'node', 'on'],
};

export const otherFlagOf = (name: string, flags: readonly string[]): string | undefined =>
	flags.find((flag) => Object.hasOwn(otherFlags, flag) && otherFlags[flag]!.includes(name));

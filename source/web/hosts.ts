/**
The other hosts, asked by ssh: however many look, each is asked once at a time, a dead one delays only its own answer, and while nobody
looks nobody is asked.
*/
import type {Clock} from '../core/ports.js';
import {CanhazgpuError} from '../errors.js';
import {sanitize} from '../format/text.js';
import {fromCommandRows, type RemoteGpu} from './remote-json.js';

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>;

export type HostAnswer = readonly RemoteGpu[] | {readonly error: string};

type Dated<Answer> = {readonly answer: Answer; readonly answeredMs: number};

/** What a host said last, and, where that is no status, the status that it told before. */
export type KnownHost = Dated<HostAnswer> & {readonly name: string; readonly before?: Dated<readonly RemoteGpu[]>};

export type RemoteHosts = {
	readonly names: readonly string[];
	/** An answer that is not old. Never rejects for a host's sake. Undefined for a host that is not one of them. */
	readonly status: (name: string) => Promise<HostAnswer | undefined>;
	/** The last answers, however old, of those that ever gave one. */
	readonly known: () => readonly KnownHost[];
	/** Until the returned function is called all hosts are asked again and again, and each answer is told as it comes. */
	readonly look: (told: (host: KnownHost) => void) => () => void;
	/** Ends what is being asked. */
	readonly stop: () => void;
};

export type HostOptions = {
	readonly names: readonly string[];
	/** Rejects with a CanhazgpuError, in words, within a time that is bounded. */
	readonly ask: (name: string, signal: AbortSignal) => Promise<Rows>;
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	/** From the beginning of a round to that of the next, in which those are asked who have answered. */
	readonly roundMs: number;
	/** Told of a bug. */
	readonly broken: (error: unknown) => void;
};

/** An answer is this good for everybody else who asks. */
const rememberMs = 5000;

const isStatus = (answer: HostAnswer): answer is readonly RemoteGpu[] => Array.isArray(answer);

const judge = (name: string, rows: Rows): HostAnswer =>
	fromCommandRows(rows, Date.now() / 1000) ?? {error: `${name}: its answer is too long to be shown`};

export function createRemoteHosts({names, ask, clock, roundMs, broken}: HostOptions): RemoteHosts {
	const known = new Map<string, KnownHost>();
	const asking = new Map<string, Promise<HostAnswer>>();
	const lookers = new Set<(host: KnownHost) => void>();
	const stopped = new AbortController();
	let looking: AbortController | undefined;

	async function askNow(name: string): Promise<HostAnswer> {
		try {
			return judge(name, await ask(name, stopped.signal));
		} catch (error) {
			if (error instanceof CanhazgpuError) {
				return {error: sanitize(error.message)};
			}

			throw error;
		}
	}

	async function askAndTell(name: string): Promise<HostAnswer> {
		try {
			const answer = await askNow(name);
			const last = known.get(name);
			const before = last !== undefined && isStatus(last.answer) ? {...last, answer: last.answer} : last?.before;
			const host: KnownHost = {
				name,
				answer,
				answeredMs: clock.monotonicMs(),
				before:
					isStatus(answer) || before === undefined ? undefined : {answer: before.answer, answeredMs: before.answeredMs},
			};
			known.set(name, host);
			for (const tell of lookers) {
				tell(host);
			}

			return answer;
		} finally {
			asking.delete(name);
		}
	}

	/** Whoever asks while it is being asked gets the answer that is on its way. */
	async function answerOf(name: string, oldestMs: number): Promise<HostAnswer> {
		const last = known.get(name);
		if (last !== undefined && clock.monotonicMs() - last.answeredMs < oldestMs) {
			return last.answer;
		}

		const asked = asking.get(name) ?? askAndTell(name);
		asking.set(name, asked);
		return asked;
	}

	async function keepAsking(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			for (const name of names) {
				// Not waited for: one that hangs is asked again when it has answered, and delays no other.
				answerOf(name, Math.min(rememberMs, roundMs / 2)).catch(broken);
			}

			// Aborted, nobody looks any more.
			await clock.sleep(roundMs, signal).catch(() => undefined);
		}
	}

	return {
		names,
		status: async (name) => (names.includes(name) ? answerOf(name, rememberMs) : undefined),
		known: () => names.flatMap((name) => known.get(name) ?? []),
		look(told) {
			lookers.add(told);
			if (looking === undefined && names.length > 0) {
				looking = new AbortController();
				void keepAsking(looking.signal);
			}

			return () => {
				lookers.delete(told);
				if (lookers.size > 0) {
					return;
				}

				looking?.abort();
				looking = undefined;
			};
		},
		stop() {
			lookers.clear();
			looking?.abort();
			stopped.abort();
		},
	};
}

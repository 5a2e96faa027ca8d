/** The other hosts, asked by ssh: many browsers cost one ssh a host, and a dead host delays only its own answer. */
import {CanhazgpuError} from '../errors.js';
import {sanitize} from '../format/text.js';
import {fromCommandRow} from './remote-json.js';

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>;

export type HostAnswer = Rows | {readonly error: string};

export type RemoteHosts = {
	readonly names: readonly string[];
	/** Never rejects for a host's sake. Undefined for a host that is not one of them. */
	readonly status: (host: string) => Promise<HostAnswer | undefined>;
};

/** An answer is this good for everybody else who asks. */
const rememberMs = 5000;

export function createRemoteHosts(
	names: readonly string[],
	ask: (host: string) => Promise<Rows>,
	monotonicMs: () => number,
): RemoteHosts {
	const asked = new Map<string, {readonly answer: Promise<HostAnswer>; readonly answeredMs: number | undefined}>();

	async function askOnce(host: string): Promise<HostAnswer> {
		try {
			const rows = await ask(host);
			return rows.map((row) => fromCommandRow(row, Date.now() / 1000));
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				asked.delete(host);
				throw error;
			}

			return {error: sanitize(error.message)};
		}
	}

	return {
		names,
		async status(host) {
			if (!names.includes(host)) {
				return undefined;
			}

			const known = asked.get(host);
			if (known !== undefined && (known.answeredMs === undefined || monotonicMs() - known.answeredMs < rememberMs)) {
				return known.answer;
			}

			const answer = askOnce(host);
			asked.set(host, {answer, answeredMs: undefined});
			const result = await answer;
			asked.set(host, {answer, answeredMs: monotonicMs()});
			return result;
		},
	};
}

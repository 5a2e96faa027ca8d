/** Loads `canhazgpu web` with many browsers and requests, and measures the cost and the scans with an nvidia-smi stub that logs its runs. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {answerOf} from '../bench/_helpers/nvidia-tables.js';
import type {Box} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {stubTool} from '../_helpers/machine/stub-tool.js';
import {ask, listenTo, startWeb, type StreamMessage} from './_server.js';

/** The kind of query of a run of nvidia-smi. `other` queries are rare. */
type Kind = 'gpus' | 'processes' | 'stream' | 'other';

type Tool = {
	readonly searchPath: string;
	/** Runs started by one process, in order of their beginnings and ends. */
	readonly noted: (parent: number) => ReadonlyArray<{readonly word: 'begin' | 'end' | 'reading'; readonly kind: Kind}>;
};

/** Creates an nvidia-smi stub as slow as the real one. It refuses queries without tables. */
function notingTool(box: Box, gpuCount: number): Tool {
	const log = path.join(box.home, 'looks');
	const lines = `
case "$*" in
--query-gpu=*' -l '*) kind=stream;;
--query-gpu=*) kind=gpus;;
--query-compute-apps=*) kind=processes;;
*) kind=other;;
esac
note() { echo "$PPID $1 $kind" >> '${log}'; }
answer() { ${answerOf(box.home, {gpuCount, pids: [], memoryUsed: 4})}
}
trap 'note end; exit 143' TERM
note begin
case $kind in
stream) while :; do answer "$@"; note reading; sleep 2 & wait $!; done;;
other) note end; exit 2;;
*) sleep 0.05; answer "$@"; note end;;
esac
`;
	const {searchPath} = stubTool(box, 'nvidia-smi', lines);
	return {
		searchPath,
		noted: (parent) =>
			(existsSync(log) ? readFileSync(log, 'utf8') : '')
				.split('\n')
				.map((line) => line.split(' ') as [string, 'begin' | 'end' | 'reading', Kind])
				.filter(([pid]) => pid === String(parent))
				.map(([, word, kind]) => ({word, kind})),
	};
}

/** Returns the maximum number of concurrent streaming runs. */
function mostStreams(noted: ReturnType<Tool['noted']>): number {
	let running = 0;
	let most = 0;
	for (const {word, kind} of noted) {
		if (kind !== 'stream' || word === 'reading') {
			continue;
		}

		running += word === 'begin' ? 1 : -1;
		most = Math.max(most, running);
	}

	return most;
}

/**
Returns the maximum number of overlapping scans. A scan is one or two queries of different kinds, so a repeated kind before all have ended belongs
to another scan.
*/
function mostScans(noted: ReturnType<Tool['noted']>): number {
	const begun = new Map<Kind, number>();
	let running = 0;
	let most = 0;
	for (const {word, kind} of noted.filter((note) => note.kind === 'gpus' || note.kind === 'processes')) {
		if (running === 0) {
			begun.clear();
		}

		running += word === 'begin' ? 1 : -1;
		if (word === 'begin') {
			begun.set(kind, (begun.get(kind) ?? 0) + 1);
		}

		most = Math.max(most, ...begun.values());
	}

	return most;
}

export type Load = {
	readonly seconds: number;
	readonly streamCount: number;
	readonly requestsPerSecond: number;
	readonly gpuCount: number;
};

export type Borne = {
	/** Duration of each request. */
	readonly took: readonly number[];
	/** Status codes of failed requests. */
	readonly failed: readonly number[];
	readonly mostMiB: number;
	readonly processorSeconds: number;
	/** How many events each browser received, of those that all of them could receive. */
	readonly events: readonly number[];
	/** Number of scans for the server. A scan is one or two queries of different kinds, started together. */
	readonly scans: number;
	/** The maximum number of overlapping scans. */
	readonly scansAtOnce: number;
	/** The maximum number of overlapping streaming runs. */
	readonly streamsAtOnce: number;
	readonly readings: number;
	/** Number of changes to the pool, each of which may cause a scan. */
	readonly changes: number;
};

const residentMiB = (pid: number): number =>
	Number(/^VmRSS:\s*(?<kib>\d+)/mv.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!.groups!['kib']) / 1024;

function processorSeconds(pid: number): number {
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ', 2)[1]!.split(' ');
	return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** @param box - With a store and without a pool. */
export async function bearLoad(box: Box, {seconds, streamCount, requestsPerSecond, gpuCount}: Load): Promise<Borne> {
	const tool = notingTool(box, gpuCount);
	const environment = {PATH: tool.searchPath};
	const made = await box.run(`admin --gpus ${gpuCount} --provider nvidia --force`, environment);
	if (made.exitCode !== 0) {
		throw new Error(made.stderr);
	}

	const web = await startWeb(box, [], environment);
	const streams = Array.from({length: streamCount}, () => listenTo(web.port));
	await eventually(() => streams.every(({messages}) => messages.length > 0));
	const took: number[] = [];
	const failed: number[] = [];
	const pending = new Set<Promise<void>>();
	let mostMiB = 0;
	let changes = 0;
	const processorBefore = processorSeconds(web.pid);
	const notedBefore = tool.noted(web.pid).length;

	async function askOnce(): Promise<void> {
		const started = performance.now();
		const {status, body} = await ask(web.port, '/api/status');
		took.push(performance.now() - started);
		if (status !== 200 || !body.includes('NVIDIA H100')) {
			failed.push(status);
		}
	}

	const untilMs = performance.now() + seconds * 1000;
	/** Reserves and releases GPUs all the time. */
	const busy = (async () => {
		while (performance.now() < untilMs) {
			for (const words of ['reserve --gpus 2', 'release']) {
				const {exitCode, stderr} = await box.run(words, environment);
				if (exitCode !== 0) {
					throw new Error(stderr);
				}

				changes++;
				await sleep(1000);
			}
		}
	})();

	const started = performance.now();
	for (let number = 0; number < seconds * requestsPerSecond; number++) {
		await sleep(Math.max(0, started + (number * 1000) / requestsPerSecond - performance.now()));
		const asked = askOnce();
		pending.add(asked);
		void asked.finally(() => {
			pending.delete(asked);
		});
		if (number % requestsPerSecond === 0) {
			mostMiB = Math.max(mostMiB, residentMiB(web.pid));
		}
	}

	await Promise.all(pending);
	await busy;
	const noted = tool.noted(web.pid);
	const duringLoad = noted.slice(notedBefore).map(({word, kind}) => `${word} ${kind}`);
	const countOf = (what: string): number => duringLoad.filter((note) => note === what).length;
	const spent = processorSeconds(web.pid) - processorBefore;
	// Events that all browsers could receive.
	const idsOf = (messages: readonly StreamMessage[]) => messages.flatMap(({id}) => id ?? []);
	const lastFirst = Math.max(...streams.map(({messages}) => idsOf(messages)[0]!));
	const lastCommon = Math.min(...streams.map(({messages}) => idsOf(messages).at(-1)!));
	for (const stream of streams) {
		stream.close();
	}

	await web.end('SIGTERM');
	return {
		took,
		failed,
		mostMiB,
		processorSeconds: spent,
		events: streams.map(
			({messages}) =>
				idsOf(messages.filter(({event}) => event === 'change')).filter((id) => id > lastFirst && id <= lastCommon)
					.length,
		),
		scans: Math.max(countOf('begin gpus'), countOf('begin processes')),
		scansAtOnce: mostScans(noted),
		streamsAtOnce: mostStreams(noted),
		readings: countOf('reading stream'),
		changes,
	};
}

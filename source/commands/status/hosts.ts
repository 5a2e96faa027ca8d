/** `status` of other hosts. Hosts are asked in parallel and shown in the order of the configuration, except that slow hosts come last. */
import {otherHosts} from '../../core/model/other-hosts.js';
import {hostsJson, hostTable, summaryTable, type HostAnswer} from '../../format/tables/host-tables.js';
import {harmlessJson} from '../../format/text/json.js';
import {sanitize} from '../../format/text/text.js';
import type {App} from '../../app/contract.js';
import {answerFrom, ownAnswerFrom, untilInterrupted} from '../shared/hosts/ask-hosts.js';
import {localRows} from '../shared/hosts/local-rows.js';
import {createProgressLine} from '../shared/progress-line.js';
import type {Input} from '../../command-line/command.js';
import {withWorld} from '../shared/with-world.js';

export type StatusForm = 'json' | 'summary' | 'table';

const localAnswer = async (app: App, others: readonly string[]): Promise<HostAnswer | undefined> =>
	ownAnswerFrom(app, others, async () =>
		withWorld(app, {willScan: true, details: 'parts'}, async (world) => ({
			host: app.host.hostname,
			rows: await localRows(world),
			source: await world.engine?.label(),
			privateLabel: world.privateLabel,
		})),
	);

const remoteAnswer = async (app: App, host: string, signal: AbortSignal): Promise<HostAnswer> =>
	answerFrom(host, async () => ({host, rows: await app.remoteStatus(host, signal)}));

function remarkAbout(app: App, answers: readonly HostAnswer[]): void {
	const hosts = answers.flatMap((answer) =>
		'rows' in answer && answer.rows.some((row) => row['simulated'] === true) ? [sanitize(answer.host)] : [],
	);
	if (hosts.length > 0) {
		app.remark(`SIMULATED GPUs: no real hardware is behind the pool of ${hosts.join(', ')}.`);
	}

	for (const answer of answers) {
		if ('rows' in answer && answer.privateLabel !== undefined) {
			app.remark(answer.privateLabel);
		}
	}
}

export const showRemote = async (app: App, host: string, form: StatusForm): Promise<number> =>
	untilInterrupted(app, async (signal) => {
		const rows = await app.remoteStatus(host, signal);
		if (form === 'json') {
			app.print(harmlessJson(rows));
		} else {
			app.print(
				form === 'summary'
					? summaryTable([{host, rows}], app.paint, app.columns)
					: hostTable(rows, app.paint, app.columns),
			);
			remarkAbout(app, [{host, rows}]);
		}
	});

const orderedMs = 2000;

/** Shows results in order. Those that are slower than `orderedMs` are shown last, each as soon as it is there. */
export async function inOrder<Item>(
	pending: ReadonlyArray<Promise<Item>>,
	sleep: App['clock']['sleep'],
	show: (item: Item) => void,
): Promise<void> {
	const answered = new Map<Promise<Item>, Item>();
	const note = async (each: Promise<Item>): Promise<void> => {
		answered.set(each, await each);
	};

	const noted = pending.map(async (each) => note(each));
	const all = new AbortController();
	const patience = sleep(orderedMs, all.signal).catch(() => undefined);
	const late: Array<Promise<Item>> = [];
	try {
		for (const [index, each] of pending.entries()) {
			await Promise.race([noted[index], patience]);
			if (answered.has(each)) {
				show(answered.get(each)!);
			} else {
				late.push(each);
			}
		}

		await Promise.all(
			late.map(async (each) => {
				show(await each);
			}),
		);
	} finally {
		all.abort();
	}
}

export const showAll = async (app: App, input: Input, form: StatusForm): Promise<number> =>
	untilInterrupted(app, async (signal) => {
		const hosts = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
		const progressLine = createProgressLine(app, hosts);
		const print = (answer: HostAnswer): void => {
			const body =
				'error' in answer
					? app.paint.error(`✗ ${sanitize(answer.error)}`)
					: hostTable(answer.rows, app.paint, app.columns);
			const source = 'error' in answer ? undefined : answer.source;
			app.print(`${app.paint.bold(sanitize(source ?? answer.host))}\n${body}\n`);
		};

		const pending = [localAnswer(app, hosts), ...hosts.map(async (host) => remoteAnswer(app, host, signal))].map(
			async (asked) => {
				const answer = await asked;
				if (answer !== undefined && !signal.aborted) {
					progressLine.answered(answer.host);
				}

				return answer;
			},
		);
		if (form === 'table') {
			await inOrder(pending, app.clock.sleep, (answer) => {
				if (answer !== undefined && !signal.aborted) {
					progressLine.around(() => {
						print(answer);
					});
				}
			});
		}

		const answers = (await Promise.all(pending)).filter((answer) => answer !== undefined);
		progressLine.end();
		if (signal.aborted) {
			return;
		}

		if (form === 'json') {
			app.print(harmlessJson(hostsJson(answers)));
		} else if (form === 'summary') {
			app.print(summaryTable(answers, app.paint, app.columns));
		}

		if (form !== 'json') {
			remarkAbout(app, answers);
		}
	});

/**
`status` of other hosts: all are asked at once, each is shown as it answers, and a dead one delays nobody.
*/
import {otherHosts} from '../../core/model/other-hosts.js';
import type {World} from '../../core/model/ports.js';
import {readStatus} from '../../core/operations/reservations.js';
import {CanhazgpuError} from '../../errors.js';
import {hostsJson, hostTable, summaryTable, type HostAnswer, type JsonRow} from '../../format/tables/host-tables.js';
import {harmlessJson} from '../../format/text/json.js';
import {statusJson} from '../../format/status-json.js';
import {sanitize} from '../../format/text/text.js';
import type {App} from '../../app/contract.js';
import {createAskingLine} from '../shared/progress-line.js';
import type {Input} from '../../command-line/command.js';

/** What is printed of a host. */
export type StatusForm = 'json' | 'summary' | 'table';

const errorWords = (error: unknown): string => {
	if (!(error instanceof CanhazgpuError)) {
		throw error;
	}

	return error.message;
};

/** This host's own rows, as it would tell them to another. */
export async function localRows(world: World): Promise<readonly JsonRow[]> {
	const {rows, observation} = await readStatus(world);
	return statusJson(rows, observation);
}

async function localAnswer(app: App): Promise<HostAnswer> {
	const host = app.host.hostname;
	try {
		const world = await app.open({willScan: true, details: 'parts'});
		try {
			return {host, rows: await localRows(world)};
		} finally {
			await world.close();
		}
	} catch (error) {
		return {host, error: errorWords(error)};
	}
}

async function remoteAnswer(app: App, host: string, signal: AbortSignal): Promise<HostAnswer> {
	try {
		return {host, rows: await app.remoteStatus(host, signal)};
	} catch (error) {
		return {host, error: errorWords(error)};
	}
}

/** Whoever is asked when Ctrl-C comes is asked no longer: nothing is left running, and nothing is shown. */
async function untilInterrupted(app: App, show: (signal: AbortSignal) => Promise<void>): Promise<number> {
	const interruption = app.interruption();
	const {signal} = interruption;
	try {
		await show(signal);
		return signal.aborted ? interruption.exitCode() : 0;
	} catch (error) {
		if (signal.aborted) {
			return interruption.exitCode();
		}

		throw error;
	} finally {
		interruption.end();
	}
}

/** `status --remote HOST`. */
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
		}
	});

/** `status --all`: this host and those of `remote_hosts`. */
export const showAll = async (app: App, input: Input, form: StatusForm): Promise<number> =>
	untilInterrupted(app, async (signal) => {
		const hosts = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
		const asking = createAskingLine(app, hosts);
		const tell = (answer: HostAnswer): void => {
			const body =
				'error' in answer
					? app.paint.error(`✗ ${sanitize(answer.error)}`)
					: hostTable(answer.rows, app.paint, app.columns);
			app.print(`${app.paint.bold(sanitize(answer.host))}\n${body}\n`);
		};

		const showsAsTheyCome = form === 'table';
		const answers = await Promise.all(
			[localAnswer(app), ...hosts.map(async (host) => remoteAnswer(app, host, signal))].map(async (pending) => {
				const answer = await pending;
				if (!signal.aborted) {
					asking.answered(answer.host, () => {
						if (showsAsTheyCome) {
							tell(answer);
						}
					});
				}

				return answer;
			}),
		);
		asking.end();
		if (signal.aborted) {
			return;
		}

		if (form === 'json') {
			app.print(harmlessJson(hostsJson(answers)));
		} else if (form === 'summary') {
			app.print(summaryTable(answers, app.paint, app.columns));
		}
	});

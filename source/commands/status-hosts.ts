/**
`status` of other hosts: all are asked at once, each is shown as it answers, and a dead one delays nobody.
*/
import {look} from '../core/reservations.js';
import {CanhazgpuError} from '../errors.js';
import {hostsJson, hostTable, summaryTable, type HostAnswer} from '../format/host-tables.js';
import {harmlessJson} from '../format/json.js';
import {statusJson} from '../format/status-json.js';
import {sanitize} from '../format/text.js';
import type {App} from '../application.js';
import type {Input} from './command.js';

const errorWords = (error: unknown): string => {
	if (!(error instanceof CanhazgpuError)) {
		throw error;
	}

	return error.message;
};

async function localAnswer(app: App): Promise<HostAnswer> {
	const host = app.host.hostname;
	try {
		const world = await app.open({willScan: true, details: 'parts'});
		try {
			const {rows, observation} = await look(world);
			return {host, rows: statusJson(rows, observation)};
		} finally {
			await world.close();
		}
	} catch (error) {
		return {host, error: errorWords(error)};
	}
}

async function remoteAnswer(app: App, host: string): Promise<HostAnswer> {
	try {
		return {host, rows: await app.remoteStatus(host)};
	} catch (error) {
		return {host, error: errorWords(error)};
	}
}

/** `status --remote HOST`. */
export async function showRemote(app: App, input: Input, host: string): Promise<number> {
	const rows = await app.remoteStatus(host);
	if (input.has('json')) {
		app.print(harmlessJson(rows));
	} else {
		app.print(input.has('summary') ? summaryTable([{host, rows}], app.paint) : hostTable(rows, app.paint));
	}

	return 0;
}

/** `status --all`: this host and those of `remote_hosts`. */
export async function showAll(app: App, input: Input): Promise<number> {
	const hosts = input.config.get('remote_hosts') ?? [];
	const showsAsTheyCome = !input.has('json') && !input.has('summary');
	const answers = await Promise.all(
		[localAnswer(app), ...hosts.map(async (host) => remoteAnswer(app, host))].map(async (pending) => {
			const answer = await pending;
			if (showsAsTheyCome) {
				const body =
					'error' in answer ? app.paint.error(`✗ ${sanitize(answer.error)}`) : hostTable(answer.rows, app.paint);
				app.print(`${app.paint.bold(sanitize(answer.host))}\n${body}\n`);
			}

			return answer;
		}),
	);
	if (input.has('json')) {
		app.print(harmlessJson(hostsJson(answers)));
	} else if (input.has('summary')) {
		app.print(summaryTable(answers, app.paint));
	}

	return 0;
}

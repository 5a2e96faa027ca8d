import packageJson from '../../package.json' with {type: 'json'};
import {otherHosts} from '../core/model/other-hosts.js';
import {isOutage} from '../errors.js';
import {webReportJson} from '../format/tables/report.js';
import {stackText} from '../format/text/text.js';
import type {Command} from '../command-line/command.js';
import {readRecentJobs} from './jobs/list-jobs.js';
import {keepReminding} from './shared/reminding.js';
import {keepHeapSmall} from './shared/small-heap.js';
import {reportBy, seriesBy} from './report.js';
import {withoutNotices} from './shared/without-notices.js';
import {checkMine, openMine} from './web-mine.js';

/** Whether only this machine can reach the address. Names such as `localhost.example` can point anywhere. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){1,3}|::1)$/iv.test(host);

const shownOf = {
	full: 'It shows names, notes, and command lines with known secrets masked (web.commands: full).',
	short: 'It shows names, notes, and the names of programs without their arguments (web.commands: short).',
	none: 'It shows names and notes, and nothing about running programs (web.commands: none).',
} as const;

export const web: Command = {
	name: 'web',
	summary: 'Serve a dashboard, an API and metrics',
	usage: '[--port N] [--host HOST | --mine] [--demo]',
	examples: [
		['canhazgpu web', 'prints the address to open'],
		['canhazgpu web --host 0.0.0.0', 'for everyone who can reach this machine'],
		['canhazgpu web --mine', 'a private dashboard that can reserve and release'],
		['canhazgpu web --demo', 'try it with simulated GPUs; nothing is saved'],
	],
	flags: {
		port: {
			shortFlag: 'p',
			value: 'N',
			summary: 'listen on this port (default: 8080); 0 means any free port',
			setting: 'web.port',
		},
		host: {
			value: 'HOST',
			summary: 'listen on this address (default: 127.0.0.1, which only this machine can reach)',
			setting: 'web.host',
		},
		mine: {summary: 'serve a private dashboard that acts as you, and print how to open it'},
		demo: {summary: 'use simulated GPUs; nothing is saved'},
	},
	notes: [
		'With --mine, --port is a port of your own computer. The dashboard works until you press Ctrl-C. See canhazgpu help web.',
	],
	async run(openedApp, input) {
		const isMine = input.has('mine');
		const isDemo = input.has('demo');
		const app = isDemo ? withoutNotices(openedApp) : openedApp;
		if (isMine) {
			checkMine(input);
		}

		const {runWeb, watchedMs} = await import('../web/index.js');
		const port = input.config.get('web.port')!;
		const mine = isMine ? await openMine(app, port === 0 ? 8080 : port) : undefined;
		const address = mine?.address ?? {host: input.config.get('web.host')!, port};
		// A private socket shows full commands, too: only this account and root can open it, and both can read the command lines anyway.
		const isNear = !('host' in address) || isLoopback(address.host);
		const remoteHosts = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
		const commands = input.config.get('web.commands') ?? (isNear ? 'full' : 'short');
		let waitsFor: string | undefined;
		const interruption = app.interruption();
		try {
			await runWeb({
				async open() {
					// The page of `web --mine` can request a MIG instance, and only a detailed scan lists the instances.
					const world = await app.open({keepReconnecting: true, isDemo, details: isMine ? 'parts' : undefined});
					try {
						const gpus = await world.watchGpus(watchedMs);
						const stopReminding = isDemo ? undefined : keepReminding(app, world, app.remark);
						return {
							...world,
							scannedGpus: world.gpus,
							gpus,
							async close() {
								await stopReminding?.();
								await world.close();
							},
						};
					} catch (error) {
						await world.close();
						throw error;
					}
				},
				goesOnWithout(error) {
					const goesOn =
						isOutage(error) || (remoteHosts.length > 0 && ['no-pool', 'store-unreachable'].includes(error.code));
					if (goesOn && waitsFor !== error.message) {
						waitsFor = error.message;
						app.remark(
							`${error.message}. ${error.code === 'no-pool' ? 'The dashboard shows the other hosts' : 'The dashboard waits until the pool can be reached'}.`,
						);
					}

					return goesOn;
				},
				clock: app.clock,
				commands,
				address,
				allowedHosts: input.config.get('web.allowed_hosts')!,
				hostname: app.host.hostname,
				version: packageJson.version,
				isDemo,
				remoteHosts,
				remoteStatus: app.remoteStatus,
				remoteReport: app.remoteReport,
				hostsIntervalMs: input.config.get('web.hosts_interval')! * 1000,
				jobs: async (world) => readRecentJobs(world, undefined),
				report: async (world, question) =>
					webReportJson(await reportBy(world, {...question, series: seriesBy(question.by)}), question.by),
				signal: interruption.signal,
				listening(url) {
					keepHeapSmall();
					if (url !== undefined) {
						app.print(`Dashboard: ${url}`);
					}

					if (!isNear) {
						app.remark(`Everyone who can reach this machine can view it. It is read-only. ${shownOf[commands]}`);
					}
				},
				complain(error) {
					app.remark(`A request failed because of a bug: ${stackText(error)}`);
				},
			});
			return 0;
		} finally {
			mine?.end();
			interruption.end();
		}
	},
};

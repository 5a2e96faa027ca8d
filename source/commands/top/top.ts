import process from 'node:process';
import {otherHosts} from '../../core/model/other-hosts.js';
import {CanhazgpuError} from '../../errors.js';
import {namedFile} from '../../config/config.js';
import type {App, OpenWorld} from '../../app/contract.js';
import type {Command} from '../../command-line/command.js';
import {checkScanInterval} from '../../format/monitor-settings.js';
import {remindOfGrant} from '../shared/acquire.js';
import {keepReminding} from '../shared/reminding.js';
import {keepHeapSmall} from '../shared/small-heap.js';
import {withoutNotices} from '../shared/without-notices.js';
import {readRecentJobs} from '../jobs/list-jobs.js';
import {createHostsPort} from './hosts-port.js';
import {createHostOutputs} from './hosts.js';
import {logOutput} from './job-logs.js';
import {createCommandLine} from './command-line.js';
import {optionsSaver, viewSaver} from './saving.js';
import {namingReplaced} from './replaced.js';

async function loadMonitor() {
	const {prepareMonitor} = await import('../../tui/index.js');
	return prepareMonitor();
}

/** Opens the pool. If there is none, returns undefined if other hosts can be shown, and otherwise creates a private pool. */
async function openPool(app: App, isDemo: boolean, others: readonly string[]): Promise<OpenWorld | undefined> {
	const canMakePrivate = others.length === 0;
	try {
		// A dialog can request a MIG instance, and only a detailed scan lists the MIG instances.
		return await app.open({keepReconnecting: true, canMakePrivate, isDemo, details: 'parts'});
	} catch (error) {
		if (!canMakePrivate && error instanceof CanhazgpuError && error.code === 'no-pool') {
			return undefined;
		}

		throw error;
	}
}

/** Values of TERM for terminals that draw only ASCII or the characters of the original IBM PC. */
const plainTerminals: ReadonlySet<string | undefined> = new Set(['dumb', 'linux', 'ansi', 'vt100', 'vt102', 'vt220']);

/** Whether to draw only ASCII. If the locale is not set, as in a container, the terminal is assumed to support other characters. */
function isPlain({TERM, LC_ALL, LC_CTYPE, LANG}: NodeJS.ProcessEnv): boolean {
	const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '');
	return plainTerminals.has(TERM) || (locale !== undefined && !/utf-?8/iv.test(locale));
}

export const top: Command = {
	name: 'top',
	summary: 'Open the monitor: all GPUs live, with keys to reserve and release',
	usage: '[--demo] [--readonly] [--interval TIME]',
	examples: [
		['canhazgpu top', 'press ? for the keys'],
		['canhazgpu top --demo', 'try it with simulated GPUs; nothing is saved'],
	],
	flags: {
		demo: {summary: 'use simulated GPUs; nothing is saved'},
		readonly: {summary: 'disable everything that changes the pool'},
		interval: {
			value: 'TIME',
			summary: 'time between two scans of the GPUs (default: 2s)',
			setting: 'top.interval',
			completes: ['1s', '2s', '5s', '10s'],
		},
		ascii: {summary: 'use only ASCII characters'},
		once: {summary: 'print the status once and exit'},
	},
	async run(openedApp, input) {
		const app = input.has('demo') ? withoutNotices(openedApp) : openedApp;
		const scanIntervalSeconds = input.config.get('top.interval')!;
		checkScanInterval(scanIntervalSeconds, '--interval');

		if (input.has('once') || !app.isTerminal) {
			const {status} = await import('../status/status.js');
			const isDemo = input.has('demo');
			const shown: App = {...app, open: async (options) => app.open({...options, isDemo})};
			return status.run(shown, {...input, has: () => false, text: () => undefined});
		}

		const keys = input.config.get('top.keys');
		if (keys !== undefined) {
			// Refuses an invalid key binding before anything is opened.
			const {bindingsWith} = await import('../../tui/keys/custom.js');
			bindingsWith(keys);
		}

		keepHeapSmall();
		const isReadonly = input.has('readonly');
		const configFile = namedFile(input.text('config'), app.environment);
		const loading = loadMonitor();
		// Prevents an unhandled rejection. The failure is reported where the promise is awaited.
		loading.catch(() => undefined);
		const others = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
		const opened = await openPool(app, input.has('demo'), others);
		const hasNoPool = opened === undefined;
		const world = opened ?? (await app.open({isEmpty: true}));
		const broken = (error: unknown): never => {
			throw error;
		};

		const hosts = createHostOutputs({app, world: opened, clock: world.clock, others, broken});
		const hostsPort = createHostsPort({app, names: others, clock: world.clock, broken});
		let stopReminding: (() => Promise<void>) | undefined;
		try {
			const runMonitor = await loading;
			// Reminders that fail are not reported, because the monitor has no place for them.
			stopReminding =
				isReadonly || hasNoPool || input.has('demo') ? undefined : keepReminding(app, world, () => undefined);
			return await runMonitor({
				world,
				watchedGpus: await opened?.watchGpus(scanIntervalSeconds * 1000),
				requester: app.requester(undefined),
				hostname: world.host.hostname,
				poolLabel: (await world.engine?.label()) ?? (world.privateLabel === undefined ? undefined : 'PRIVATE pool'),
				engine: world.engine?.name,
				lacks: world.engine?.lacks,
				notice: world.notice,
				isReadonly,
				otherHosts: others,
				hasNoPool,
				openOutput: app.openPatientOutput,
				refuseMessages: app.refuseMessages,
				ports: {
					hosts: hostsPort,
					jobs: {
						async read() {
							const {rows} = await readRecentJobs(world, app.requester(undefined).account);
							return rows;
						},
					},
					sendSignal: (world.simulatedProcesses ?? app).sendSignal,
					inspectProcesses: (world.simulatedProcesses ?? app).inspectProcesses,
					saveView: viewSaver(configFile),
					saveOptions: optionsSaver(configFile, input.config, app.environment),
					watchGpus: opened && (async (intervalMs) => namingReplaced(async () => opened.watchGpus(intervalMs))),
					// Notices that fail are not reported, because the monitor has no place for them.
					notifyGranted: async (request, grant) => remindOfGrant({...app, remark: () => undefined}, request, grant),
					lineHistory: app.lineHistory,
					isInTmux: app.environment['TMUX'] !== undefined,
					commandLine: createCommandLine({
						app,
						world,
						grammar: input.grammar,
						isReadonly,
						hosts,
						logOf: (id) => logOutput(id, {app, world, clock: world.clock, broken}),
					}),
				},
				scanIntervalMs: scanIntervalSeconds * 1000,
				view: {
					preset: input.config.get('top.preset'),
					columns: input.config.get('top.columns'),
					isFolded: input.config.get('top.fold'),
				},
				keys,
				theme: input.config.get('top.theme'),
				isMouseOn: input.config.get('top.mouse'),
				isAscii: input.has('ascii') || isPlain(process.env),
				graphs: input.config.get('top.graphs'),
			});
		} finally {
			hosts.stop();
			hostsPort.stop();
			await stopReminding?.();
			await world.close();
		}
	},
};

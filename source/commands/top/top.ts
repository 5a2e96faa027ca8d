import process from 'node:process';
import {otherHosts} from '../../core/model/other-hosts.js';
import {CanhazgpuError} from '../../errors.js';
import type {App} from '../../app/contract.js';
import type {Command} from '../../command-line/command.js';
import {keepReminding} from '../shared/reminding.js';
import {createHostOutputs} from './hosts.js';
import {createCommandLine} from './command-line.js';

async function loadMonitor() {
	const {prepareMonitor} = await import('../../tui/index.js');
	return prepareMonitor();
}

export const top: Command = {
	name: 'top',
	summary: 'The monitor: every GPU live, full screen, with keys to reserve and release',
	usage: '[--demo] [--readonly] [--interval TIME]',
	examples: [
		['canhazgpu top', 'press ? for the keys'],
		['canhazgpu top --demo', 'look around on simulated GPUs; nothing is kept'],
	],
	flags: {
		demo: {summary: 'simulated GPUs in memory; nothing is kept'},
		readonly: {summary: 'look, but change nothing'},
		interval: {
			value: 'TIME',
			summary: 'between two scans of the GPUs (2s)',
			setting: 'top.interval',
			completes: ['1s', '2s', '5s', '10s'],
		},
		ascii: {summary: 'draw with plain characters'},
		once: {summary: 'print the status once and leave'},
	},
	async run(app, input) {
		const scanIntervalSeconds = input.config.get('top.interval')!;
		if (scanIntervalSeconds < 0.5) {
			throw new CanhazgpuError('usage', '--interval must be 0.5s or more', {hint: 'Each scan costs the machine time.'});
		}

		if (input.has('once') || !app.isTerminal) {
			const {status} = await import('../status/status.js');
			const isDemo = input.has('demo');
			const shown: App = {...app, open: async (options) => app.open({...options, isDemo})};
			return status.run(shown, {...input, has: () => false, text: () => undefined});
		}

		const isReadonly = input.has('readonly');
		// The screen's libraries load while the store is being opened.
		const loading = loadMonitor();
		// A failure before it is needed has an error of its own to tell.
		loading.catch(() => undefined);
		const world = await app.open({isPatient: true, canMakePrivate: true, isDemo: input.has('demo')});
		const hosts = createHostOutputs({
			app,
			world,
			others: otherHosts(input.config.get('remote_hosts')!, app.host.hostname),
			broken(error) {
				// In the background of the monitor, which comes to its ordered end by it.
				throw error;
			},
		});
		let stopReminding: (() => Promise<void>) | undefined;
		try {
			const runMonitor = await loading;
			// What could not be sent is nothing to put on a screen that is the monitor's.
			stopReminding = isReadonly || input.has('demo') ? undefined : keepReminding(app, world, () => undefined);
			return await runMonitor({
				world,
				watchedGpus: await world.watchGpus(scanIntervalSeconds * 1000),
				requester: app.requester(undefined),
				hostname: world.host.hostname,
				poolLabel: world.privateLabel === undefined ? undefined : 'PRIVATE pool',
				notice: world.notice,
				isReadonly,
				ports: {
					sendSignal: (world.simulatedProcesses ?? app).sendSignal,
					inspectProcesses: (world.simulatedProcesses ?? app).inspectProcesses,
					lineHistory: app.lineHistory,
					isInTmux: app.environment['TMUX'] !== undefined,
					commandLine: createCommandLine({
						app,
						world,
						grammar: input.grammar,
						isReadonly,
						hosts,
					}),
				},
				scanIntervalMs: scanIntervalSeconds * 1000,
				theme: input.config.get('top.theme'),
				isAscii: input.has('ascii') || process.env['TERM'] === 'dumb',
			});
		} finally {
			hosts.stop();
			await stopReminding?.();
			await world.close();
		}
	},
};

import process from 'node:process';
import packageJson from '../../../package.json' with {type: 'json'};
import {CanhazgpuError, quoted} from '../../errors.js';
import type {Command} from '../../command-line/command.js';
import {labelFlag} from '../shared/common-flags.js';
import {createBackground} from '../shared/background.js';
import {checkLabel} from '../shared/flag-values.js';
import {reportBy} from '../report.js';
import {typedFlags} from '../shared/hosts/on-host.js';
import {createAgentJobs} from './agent-jobs.js';
import {clientConfigOf, clientNames} from './client-config.js';

export const mcp: Command = {
	name: 'mcp',
	summary: 'Serve coding agents over the Model Context Protocol, on stdin and stdout',
	usage: '[--user NAME] | --config CLIENT',
	examples: [
		['canhazgpu mcp --config claude', 'print what to write into .mcp.json'],
		['canhazgpu mcp', 'run the server, as a client does'],
	],
	flags: {
		config: {
			value: 'CLIENT',
			summary: `print the configuration for a client: ${clientNames.join(', ')}`,
			completes: clientNames,
		},
		user: {...labelFlag, summary: "the name shown on the agent's reservations"},
	},
	notes: [
		'What the agent reserves is released when its client ends the connection or dies. To read another config file, set CANHAZGPU_CONFIG=FILE. See canhazgpu help agents.',
	],
	async run(app, input) {
		const client = input.text('config');
		if (client !== undefined) {
			const config = clientConfigOf(client);
			if (config === undefined) {
				throw new CanhazgpuError('usage', `mcp --config does not support the client ${quoted(client)}`, {
					hint: `The clients are: ${clientNames.join(', ')}. To read another config file: CANHAZGPU_CONFIG=FILE canhazgpu mcp`,
				});
			}

			app.print(config.text);
			app.remark(`Put this in ${config.place}`);
			return 0;
		}

		const label = checkLabel(input.text('user'));
		const {runMcp} = await import('../../mcp/index.js');
		const interruption = app.interruption();
		const {failed} = createBackground(app.remark);
		app.outliveBugs(failed);
		if (process.stdin.isTTY) {
			app.remark(
				'canhazgpu mcp is started by a client, and talks to it on stdin and stdout. To set up a client: canhazgpu mcp --config claude',
			);
		}

		try {
			const isRead = await runMcp({
				// Requests can name MIG instances, which only a detailed scan shows.
				open: async () => app.open({keepReconnecting: true, details: 'parts'}),
				requester: () => app.requester(label),
				jobs: createAgentJobs(app, typedFlags(mcp, input, 'config', 'user')),
				report: async (world, question) => reportBy(world, question),
				version: packageJson.version,
				remark: app.progress,
				failed,
				signal: interruption.signal,
				input: process.stdin,
				output: process.stdout,
			});
			if (!isRead) {
				// Messages that the client does not read would keep this process running.
				process.exit(0); // eslint-disable-line unicorn/no-process-exit
			}

			return 0;
		} finally {
			interruption.end();
			// An open stdin would keep this process running.
			process.stdin.destroy();
		}
	},
};

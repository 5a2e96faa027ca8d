/** Enter in the host table: runs the monitor of the selected host in this terminal. */
import {CanhazgpuError} from '../../../errors.js';
import {sanitize} from '../../../format/text/text.js';
import {selectedHostLine} from '../../state/hosts/rows.js';
import type {Flash} from '../../state/messages.js';
import {defineCommand} from '../command.js';
import {hostsPort} from './answer.js';

export const openHost = defineCommand({
	name: 'open-host',
	keys: {modes: ['hosts'], keys: ['enter'], help: ['Panels', 'open that host'], footer: ['Enter', 'Open', 1]},
	reasonAgainst: (state) =>
		selectedHostLine(state) === undefined ? 'No host is shown: Esc clears the filter' : undefined,
	async begin(context) {
		const {store, lendTerminal} = context;
		const line = selectedHostLine(store.getState())!;
		if (line.isOwn) {
			store.dispatch({kind: 'focus-gpus'});
			return undefined;
		}

		const {host} = line;
		const name = sanitize(host);
		let flash: Flash | undefined;
		await lendTerminal(async () => {
			try {
				const exitCode = await hostsPort(context).openMonitor(host);
				flash =
					exitCode === 0
						? {level: 'ok', text: `back from ${name}`}
						: {
								level: 'warning',
								text: `The monitor of ${name} ended with exit code ${exitCode}. To see its GPUs: :host ${name}`,
							};
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					throw error;
				}

				flash = {level: 'error', text: sanitize(error.message)};
			}
		});
		return flash && {kind: 'done', flash};
	},
});

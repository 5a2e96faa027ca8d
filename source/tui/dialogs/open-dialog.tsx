import type {ComponentType, ReactElement} from 'react';
import {isAsking} from '../state/dialogs.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {commandOf} from '../commands/index.js';
import {ColumnsDialog} from './columns.js';
import {CommandContext} from './dialog-box.js';
import {HelpDialog} from './help.js';
import {OptionsDialog} from './options.js';
import {OutputDialog} from './output.js';
import {ProcessDialog} from './process.js';

/** The dialogs that send no request. */
const dialogs = {
	help: HelpDialog,
	columns: ColumnsDialog,
	options: OptionsDialog,
	process: ProcessDialog,
	output: OutputDialog,
} as const;

/** The open dialog, drawn over the panels. The `:` line is drawn above the footer instead. */
export function OpenDialog(): ReactElement | undefined {
	const dialog = useMonitor((state) => state.dialog);
	const {requester} = useSettings();
	if (isAsking(dialog)) {
		const {Dialog, shellCommand} = dialog.kind === 'command' ? {} : commandOf(dialog);
		return Dialog === undefined ? undefined : (
			<CommandContext value={shellCommand?.(dialog, requester)}>
				<Dialog dialog={dialog} />
			</CommandContext>
		);
	}

	if (dialog === undefined) {
		return undefined;
	}

	const Shown = dialogs[dialog.kind] as ComponentType<typeof dialog>;
	return <Shown {...dialog} />;
}

/** The screen for a screen reader: sentences one below another, without borders, bars, or anything that changes every second. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {freeGpus, type StatusRow} from '../../core/rules/pool/status.js';
import {inventory} from '../../format/readings.js';
import {sanitize} from '../../format/text/text.js';
import {OpenDialog} from '../dialogs/open-dialog.js';
import {Footer, useCommandLineHelp} from '../panels/footer.js';
import {HostsHeader} from '../panels/hosts/hosts-header.js';
import {MessageLine} from '../panels/message.js';
import {gpuCountOf, rowsOf, type State} from '../state/state.js';
import {ownIdleWords} from '../state/gpus/idle.js';
import {gpuTable, visibleRows} from '../state/gpus/rows.js';
import {promptOf} from '../state/table/tables.js';
import {useMonitor} from '../state/use-monitor.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {GpuSentence, sentence} from './gpu-sentences.js';
import {panelViews} from './panel-views.js';

function headSentence(state: State): string {
	const {settings, connection, observation, scanFailure, pause} = state;
	const {model} = inventory(gpuCountOf(state), observation?.gpus ?? []);
	const connections = {
		connecting: 'connecting',
		live: 'live',
		lost: 'STALE: the connection to the store is lost',
	} as const;
	return sentence([
		`canhazgpu on ${sanitize(settings.hostname)}`,
		model,
		connection.kind === 'live' && (scanFailure !== undefined || pause !== undefined)
			? undefined
			: connections[connection.kind],
		pause === undefined ? undefined : 'PAUSED',
		scanFailure === undefined ? undefined : 'GPU scan failed',
		observation?.simulated === true ? 'simulated' : undefined,
		sanitize(settings.poolLabel ?? ''),
		settings.isReadonly ? 'read only' : undefined,
		ownIdleWords(state),
	]);
}

function countSentence(state: State): string {
	const rows = rowsOf(state);
	const free = freeGpus(rows);
	const count = (kind: StatusRow['state']): number => rows.filter((row) => row.state === kind).length;
	return sentence([
		`${free.whole} free`,
		free.split > 0 ? `${free.split} free but split by MIG` : '',
		`${count('in-use')} reserved`,
		`${count('unreserved')} used without a reservation`,
		`${count('error')} with errors`,
		`${state.snapshot?.queue.length ?? 0} waiting`,
	]);
}

/** Describes the selected GPU and as many other GPUs as fit on the screen. */
function Gpus({rows: room}: {readonly rows: number}): ReactElement {
	const all = useMonitor(visibleRows);
	const selected = useMonitor(gpuTable.selectedIndex) ?? 0;
	const shown = Math.max(1, Math.min(all.length, room));
	const from = Math.max(0, Math.min(selected, all.length - shown));
	return (
		<>
			{shown < all.length ? (
				<Label>
					{shown === 1 ? `Row ${from + 1}` : `Rows ${from + 1} to ${from + shown}`} of {all.length}:
				</Label>
			) : undefined}
			{all.slice(from, from + shown).map((row) => (
				<GpuSentence key={row.index} row={row} />
			))}
		</>
	);
}

/** The size of a panel that is read aloud, in terminal columns and lines. */
const panelSize = {width: 100, rows: 10} as const;

/** Shows the focused panel, unless that is the GPU table, whose rows are already shown as sentences. */
function FocusedPanel(): ReactElement | undefined {
	const focus = useMonitor(({panels}) => panels.focus);
	const PanelView = panelViews[focus];
	return focus === 'gpus' ? undefined : <PanelView {...panelSize} />;
}

/** Shows a new message, or a line being typed. A problem that lasts is in the first sentence of the screen instead. */
function Message(): ReactElement | undefined {
	const isNew = useMonitor(
		(state) =>
			state.flash !== undefined ||
			(promptOf(state) ?? state.search.prompt) !== undefined ||
			state.dialog?.kind === 'command',
	);
	return isNew ? <MessageLine /> : undefined;
}

function Sentences(): ReactElement {
	const head = useMonitor(headSentence);
	const counts = useMonitor(countSentence);
	const {rows} = useMonitor(({size}) => size);
	const hasHosts = useMonitor(({panels}) => panels.focus === 'hosts');
	const hasPanel = useMonitor(({panels}) => panels.focus !== 'gpus');
	if (hasHosts) {
		return <HostsHeader />;
	}

	return (
		<>
			<Label wrap="wrap">{head}</Label>
			<Label wrap="wrap">{counts}</Label>
			<Gpus rows={rows - 6 - (hasPanel ? panelSize.rows : 0)} />
		</>
	);
}

export function LinearScreen(): ReactElement {
	const dialog = useMonitor((state) => state.dialog?.kind);
	const help = useCommandLineHelp();
	return (
		<Box flexDirection="column">
			{dialog === 'command' ? (
				<>
					<MessageLine />
					{help}
				</>
			) : dialog === undefined ? (
				<>
					<Sentences />
					<FocusedPanel />
					<Message />
				</>
			) : (
				<OpenDialog />
			)}
			<Box>
				<FixedLabel>Keys:</FixedLabel>
				<Footer hasHelp={false} />
			</Box>
		</Box>
	);
}

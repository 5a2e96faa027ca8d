/** The panel of all hosts. It has a row for each GPU, a line for each host with a problem, and subtotals for each host. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {roughDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import type {NoteLine} from '../../state/hosts/lines.js';
import {hostLines} from '../../state/hosts/rows.js';
import type {State} from '../../state/state.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import type {Tone} from '../../themes/tones.js';
import {FixedLabel, Label} from '../../widgets/label.js';
import type {PanelProperties} from '../shared/panel-frame.js';
import {TablePanel} from '../../table/table-panel.js';
import {hostColumns, hostFit} from './columns.js';

const noteTones: Readonly<Record<NoteLine['level'], Tone>> = {asking: 'dim', problem: 'error', remark: 'warning'};

function Note({note, hostWidth}: {readonly note: NoteLine; readonly hostWidth: number}): ReactElement {
	const nowMs = useMonitor((state) => state.nowMs);
	const {host, words, level, valuesAtMs, isOwn} = note;
	const tone = noteTones[level];
	return (
		<Box gap={1}>
			<FixedLabel width={hostWidth} tone={isOwn ? 'strong' : 'plain'}>
				{sanitize(host)}
			</FixedLabel>
			<Label tone={tone}>
				{level === 'problem' ? '! ' : ''}
				{words}
			</Label>
			{valuesAtMs === undefined ? undefined : (
				<FixedLabel tone={tone}>(values of {roughDuration((nowMs - valuesAtMs) / 1000)} ago)</FixedLabel>
			)}
		</Box>
	);
}

function textBelow(state: State): string | undefined {
	if (hostLines(state).length === 0 && isFiltered(state.hosts.filter)) {
		return 'No GPU of any host matches; Esc clears the filter';
	}

	const {otherHosts = []} = state.settings;
	return otherHosts.length === 0 ? 'Name other hosts in the setting remote_hosts to see them here' : undefined;
}

export function HostsPanel(place: PanelProperties): ReactElement {
	const below = useMonitor(textBelow);
	return (
		<TablePanel
			{...place}
			name="hosts"
			columns={hostColumns}
			fit={hostFit}
			lineOf={(row, [host]) => (row.kind === 'note' ? <Note note={row} hostWidth={host!.width} /> : undefined)}
			sortsByTitle={false}
		>
			{below === undefined ? undefined : (
				<Box marginTop={1} marginLeft={2}>
					<Label tone="dim">{below}</Label>
				</Box>
			)}
		</TablePanel>
	);
}

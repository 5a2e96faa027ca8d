import type {ComponentType, ReactElement} from 'react';
import type {ProcessRight} from '../../../core/rules/pool/process-right.js';
import {processRightText} from '../../../format/process-right.js';
import {gibibytes, processText} from '../../../format/readings.js';
import {sanitize} from '../../../format/text/text.js';
import type {ProcessRow, ProcessSortKey} from '../../state/processes/state.js';
import {storeNow} from '../../state/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import type {CellProperties} from '../../table/data-table.js';
import {loadTone, type Tone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import {Branch, processCells} from '../shared/process-cells.js';
import {Nothing} from '../shared/readings.js';

type Properties = CellProperties<ProcessRow>;

/** Whether a process needs somebody's attention. */
export const isAlarming = (right: ProcessRight): boolean => right === 'not-holder' || right === 'unreserved';

const rightTones: Readonly<Record<ProcessRight, Tone>> = {
	'not-holder': 'warning',
	unreserved: 'warning',
	unknown: 'dim',
	little: 'dim',
	desktop: 'dim',
	holder: 'plain',
};

function User({row: {process, right}}: Properties): ReactElement {
	const {account} = useSettings().requester;
	const tone = isAlarming(right) ? 'warning' : process.user === account ? 'mine' : 'plain';
	return <Label tone={tone}>{sanitize(process.user ?? '?')}</Label>;
}

function MemoryCell({row: {process, row}}: Properties): ReactElement {
	const total = row.reading?.memoryTotalMiB;
	const {memoryUsedMiB} = process;
	const tone =
		memoryUsedMiB === undefined ? 'dim' : total === undefined ? 'plain' : loadTone('memory', memoryUsedMiB / total);
	return <Label tone={tone}>{processCells(process, undefined).memory}</Label>;
}

function Load({row: {process}}: Properties): ReactElement {
	const {utilizationPercent} = process;
	return utilizationPercent === undefined ? (
		<Nothing />
	) : (
		<Label tone={loadTone('load', utilizationPercent / 100)}>{Math.round(utilizationPercent)}</Label>
	);
}

const textCell = (name: 'cpu' | 'time'): ComponentType<Properties> =>
	function TextCell({row: {process}}) {
		const now = useMonitor(storeNow);
		const text = processCells(process, now)[name];
		return text === '-' ? <Nothing /> : <Label>{text}</Label>;
	};

function Command({row: {process, right, depth}}: Properties): ReactElement {
	return (
		<Label tone={isAlarming(right) ? 'warning' : 'plain'}>
			<Branch depth={depth} />
			{processText(process)}
		</Label>
	);
}

export const processTableCells: Readonly<Record<ProcessSortKey, ComponentType<Properties>>> = {
	gpu: ({row: {row}}) => <Label tone="strong">{row.index}</Label>,
	pid: ({row: {process}}) => <Label>{process.pid}</Label>,
	user: User,
	right: ({row: {right}}) => <Label tone={rightTones[right]}>{processRightText[right].short}</Label>,
	load: Load,
	memory: MemoryCell,
	cpu: textCell('cpu'),
	hostMemory: ({row: {process}}) =>
		process.hostMemoryMiB === undefined ? <Nothing /> : <Label>{gibibytes(process.hostMemoryMiB)}</Label>,
	time: textCell('time'),
	container: ({row: {process}}) =>
		process.containerId === undefined ? <Nothing /> : <Label>{sanitize(process.containerId)}</Label>,
	command: Command,
};

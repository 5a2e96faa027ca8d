import type {ComponentType, ReactElement} from 'react';
import type {ProcessRight} from '../../../core/rules/pool/process-right.js';
import {processRightText} from '../../../format/process-right.js';
import {gibibytes, processText} from '../../../format/readings.js';
import {sanitize} from '../../../format/text/text.js';
import type {ProcessRow} from '../../state/processes/state.js';
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

export function User({row: {process, right}}: Properties): ReactElement {
	const {account} = useSettings().requester;
	const tone = isAlarming(right) ? 'warning' : process.user === account ? 'mine' : 'plain';
	return <Label tone={tone}>{sanitize(process.user ?? '?')}</Label>;
}

export function Memory({row: {process, row}}: Properties): ReactElement {
	const total = row.reading?.memoryTotalMiB;
	const {memoryUsedMiB} = process;
	const tone =
		memoryUsedMiB === undefined ? 'dim' : total === undefined ? 'plain' : loadTone('memory', memoryUsedMiB / total);
	return <Label tone={tone}>{processCells(process, undefined).memory}</Label>;
}

export function Load({row: {process}}: Properties): ReactElement {
	const {utilizationPercent} = process;
	return utilizationPercent === undefined ? (
		<Nothing />
	) : (
		<Label tone={loadTone('load', utilizationPercent / 100)}>{Math.round(utilizationPercent)}</Label>
	);
}

export const textCell = (name: 'cpu' | 'time'): ComponentType<Properties> =>
	function TextCell({row: {process}}) {
		const now = useMonitor(storeNow);
		const text = processCells(process, now)[name];
		return text === '-' ? <Nothing /> : <Label>{text}</Label>;
	};

export function Command({row: {process, right, depth}}: Properties): ReactElement {
	return (
		<Label tone={isAlarming(right) ? 'warning' : 'plain'}>
			<Branch depth={depth} />
			{processText(process)}
		</Label>
	);
}

export const Right = ({row: {right}}: Properties): ReactElement => (
	<Label tone={rightTones[right]}>{processRightText[right].short}</Label>
);

export const HostMemory = ({row: {process}}: Properties): ReactElement =>
	process.hostMemoryMiB === undefined ? <Nothing /> : <Label>{gibibytes(process.hostMemoryMiB)}</Label>;

export const Container = ({row: {process}}: Properties): ReactElement =>
	process.containerId === undefined ? <Nothing /> : <Label>{sanitize(process.containerId)}</Label>;

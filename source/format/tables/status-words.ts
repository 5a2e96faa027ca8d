/** The status of all GPUs as one paragraph, for readers without a table. */
import {modelName} from '../json/status-json.js';
import {isWhole} from '../../core/rules/mig/instances.js';
import type {StatusRow} from '../../core/rules/pool/status.js';
import type {Observation} from '../../core/model/types.js';
import {stateText} from '../states.js';
import {detailText, processList, userText, validationText} from '../status-labels.js';
import {noteWords} from '../text/note.js';
import {gpuList} from '../text/gpu-list.js';
import {counted, mebibytes} from '../text/numbers.js';
import {sanitize} from '../text/text.js';

function useWords(row: StatusRow): string {
	const {memoryUsedMiB: used, memoryTotalMiB: total} = row.reading ?? {};
	if (used === undefined || total === undefined) {
		return validationText(row);
	}

	// Processes without a reservation are already named by the details.
	const by = row.state === 'unreserved' || row.processes.length === 0 ? '' : ` by ${processList(row.processes)}`;
	return `${mebibytes(used)} of ${mebibytes(total)} in use${by}`;
}

/** Returns `GPU 1 (H100 80GB HBM3) is IN_USE: alice, expires in 1h 2m 3s, 8452MB of 81559MB in use by PID 4711 (python3), note: eval.` */
function rowWords(row: StatusRow): string {
	const model = row.reading?.name === undefined ? '' : ` (${sanitize(modelName(row.reading.name) ?? '')})`;
	const note = noteWords(row.lease ?? {});
	const facts = [userText(row), detailText(row), useWords(row), note === '' ? '' : `note: ${note}`].filter(
		(fact) => fact !== '' && fact !== '-',
	);
	return `GPU ${row.index}${model} is ${stateText[row.state]}${facts.length === 0 ? '' : `: ${facts.join(', ')}`}.`;
}

export function statusWords(rows: readonly StatusRow[], {failure, simulated}: Observation): string {
	const available = rows.filter(({state, drain}) => state === 'available' && drain === undefined);
	const free = available.filter(({reading}) => isWhole(reading) !== false).map(({index}) => index);
	const split = available.length - free.length;
	return [
		`${free.length} of ${rows.length} GPUs are free${free.length === 0 ? '' : `: ${gpuList(free)}`}.`,
		...(split === 0
			? []
			: [`${counted(split, 'more GPU')} split by MIG ${split === 1 ? 'has' : 'have'} no reservation.`]),
		...rows.map((row) => rowWords(row)),
		...(failure === undefined ? [] : [`The GPUs could not be read: ${sanitize(failure.message)}`]),
		...(simulated ? ['These GPUs are simulated.'] : []),
	].join(' ');
}

import type {StatusRow} from '../core/status.js';
import {counted} from './numbers.js';
import type {Paint} from './paint.js';
import {ruledTable} from './table.js';
import {sanitize} from './text.js';

export type HostRows = {readonly host: string; readonly rows: readonly StatusRow[]};

/** `8x H100 80GB`, the models in the order in which they first appear. */
function models(rows: readonly StatusRow[]): string {
	const counts = new Map<string, number>();
	for (const {reading} of rows) {
		if (reading?.name === undefined) {
			continue;
		}

		const name = sanitize(reading.name);
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}

	return counts.size > 0 ? [...counts].map(([name, count]) => `${count}x ${name}`).join(', ') : 'unknown';
}

/** One line a host: `status --summary`. */
export const summaryTable = (hosts: readonly HostRows[], paint: Paint): string =>
	ruledTable(
		['HOST', 'TOTAL', 'GPU MODELS', 'AVAILABLE', 'IN USE'],
		hosts.map(({host, rows}) => {
			const available = rows.filter(({state}) => state === 'available').length;
			const errors = rows.filter(({state}) => state === 'error').length;
			const inUse = rows.length - available - errors;
			return [
				sanitize(host),
				String(rows.length),
				models(rows),
				available > 0 ? paint.available(`✓ ${available}`) : paint.error('✗ 0'),
				errors > 0 ? `${inUse} (${counted(errors, 'error')})` : String(inUse),
			];
		}),
		paint,
	);

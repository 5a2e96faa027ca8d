/** Why somebody who waits cannot be served, in words. */
import {usedPatienceSeconds, type Outage} from '../../core/rules/queue/out-of-service.js';
import type {QueueRow} from '../../core/rules/queue/queue-rows.js';
import {shortDuration} from '../text/durations.js';
import {sanitize} from '../text/text.js';
import {wantedText} from './waiting-progress.js';

/** What is wrong with a GPU that is out of service, such as `used by bob without a reservation`. */
export function outageText({kind, detail}: Outage): string {
	const words = detail === undefined ? '' : sanitize(detail);
	switch (kind) {
		case 'drained': {
			return words === '' ? 'drained' : `drained: ${words}`;
		}

		case 'unreadable': {
			return `its record cannot be read: ${words}`;
		}

		case 'used': {
			return `used ${words === '' ? '' : `by ${words} `}without a reservation`;
		}

		case 'broken':
		case 'unknown': {
			return words === '' ? 'something is wrong with it' : words;
		}
	}
}

/** Why it waits, and what others may do meanwhile. Undefined for one that can be served. */
export function stuckText({
	outOfService,
	outages,
	keepsHoldings,
	held,
}: Pick<QueueRow, 'outOfService' | 'outages' | 'keepsHoldings' | 'held'>): string | undefined {
	if (outOfService.length === 0) {
		return undefined;
	}

	const gpus = wantedText({count: outOfService.length, ids: outOfService});
	const why = [...new Set(outages.map((outage) => outageText(outage)))].join(', ');
	const others =
		keepsHoldings && held.length > 0
			? `the others go first meanwhile, and get what it holds after ${shortDuration(usedPatienceSeconds)}`
			: 'the others may use its GPUs meanwhile';
	return `waits for ${gpus}, which ${outOfService.length === 1 ? 'is' : 'are'} out of service: ${why}; ${others}`;
}

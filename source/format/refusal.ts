/** A refusal in words. The first line is the peer's, which scripts may look for. */
import type {Block, Refusal} from '../core/allocation.js';
import {counted} from './numbers.js';

export type RefusalMessage = {readonly message: string; readonly hint?: string};

const countOf = ({blocked}: Refusal, ...kinds: ReadonlyArray<Block['kind']>): number =>
	blocked.filter(({block}) => kinds.includes(block.kind)).length;

/** What to do about the most telling reason. */
function hintOf(refusal: Refusal): string {
	const [first] = refusal.blocked.flatMap(({block}) => (block.kind === 'not-scanned' ? [block.why] : []));
	if (first !== undefined) {
		return `The GPUs could not be read, and nothing is handed out blind: ${first}. --force does it all the same.`;
	}

	return countOf(refusal, 'unreserved', 'unknown-use', 'failed') > 0
		? 'See who uses them: canhazgpu status. --force takes them all the same.'
		: 'See who holds them, and until when: canhazgpu status';
}

export function refusalMessage(refusal: Refusal): RefusalMessage {
	const {wanted, available} = refusal;
	const reasons = [
		[countOf(refusal, 'unreserved'), 'GPU', 'in use without reservation'],
		[countOf(refusal, 'queued'), 'GPU', 'kept for those who wait in the queue'],
		[countOf(refusal, 'failed', 'garbage'), 'GPU', 'out of order'],
		[countOf(refusal, 'unknown-use', 'not-scanned'), 'GPU', 'whose use is unknown'],
	] as const;
	const told = reasons.filter(([count]) => count > 0).map(([count, noun, what]) => `${counted(count, noun)} ${what}`);
	const why = told.length === 0 ? '' : ` (${told.join(', ')} - run 'canhazgpu status' for details)`;
	const which =
		wanted.ids === undefined
			? ''
			: ` GPU(s) [${wanted.ids.join(' ')}] asked for: not free are [${refusal.blocked.map(({index}) => index).join(' ')}].`;
	return {
		message: `Not enough GPUs available.${which} Requested: ${wanted.count}, Available: ${available}${why}`,
		hint: hintOf(refusal),
	};
}

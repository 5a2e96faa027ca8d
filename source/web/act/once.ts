/** Doing what is asked for once, however often it is asked. */
import {CanhazgpuError} from '../../errors.js';

/** So many answers are remembered. */
const mostRemembered = 500;
/** More at a time are refused: they would only wait for each other. */
const mostAtOnce = 8;

/**
Remembers by an id what was begun, and answers the same again. Ids are the choice of those who ask, and never come twice.

@throws CanhazgpuError `busy` when too much is under way.
*/
export function createOnce<Answer>(): (id: string, begin: () => Promise<Answer>) => Promise<Answer> {
	const known = new Map<string, Promise<Answer>>();
	let underWay = 0;
	return async (id, begin) => {
		const before = known.get(id);
		if (before !== undefined) {
			return before;
		}

		if (underWay >= mostAtOnce) {
			throw new CanhazgpuError('busy', 'Too much is asked for at once', {hint: 'Nothing was changed. Try again.'});
		}

		underWay++;
		const answer = begin().finally(() => {
			underWay--;
		});
		known.set(id, answer);
		if (known.size > mostRemembered) {
			known.delete(known.keys().next().value!);
		}

		return answer;
	};
}

import {CanhazgpuError} from '../../errors.js';

const mostRemembered = 500;
const mostAtOnce = 8;

/** Returns a function that runs `begin` once per id, and returns the cached answer for a repeated id. Throws `busy` if too many requests run. */
export function createOnce<Answer>(): (id: string, begin: () => Promise<Answer>) => Promise<Answer> {
	const known = new Map<string, Promise<Answer>>();
	let underWay = 0;
	return async (id, begin) => {
		const before = known.get(id);
		if (before !== undefined) {
			return before;
		}

		if (underWay >= mostAtOnce) {
			throw new CanhazgpuError('busy', 'Too many requests at once', {hint: 'Nothing was changed. Try again.'});
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

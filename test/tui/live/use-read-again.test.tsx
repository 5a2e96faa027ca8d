import {render} from 'ink-testing-library';
import {expect, test, vi} from 'vitest';
import {CanhazgpuError} from '../../../source/errors.js';
import {useReadAgain} from '../../../source/tui/live/use-read-again.js';

const log: string[] = [];
let isAway = true;

function Reader({isShown, of}: {readonly isShown: boolean; readonly of: string}) {
	useReadAgain(
		{
			isShown,
			async read() {
				log.push(`reads ${of}`);
				if (isAway) {
					throw new CanhazgpuError('failed', 'the store is away');
				}

				return of;
			},
			arrived(value) {
				log.push(`shows ${value}`);
			},
			failed(reason) {
				log.push(reason);
			},
			broken(error) {
				throw error as Error;
			},
		},
		[of],
	);
	return null;
}

test('useReadAgain reads again 5 s after a failure, a minute after an answer, and for a new query', async () => {
	vi.useFakeTimers();
	try {
		const {rerender, unmount} = render(<Reader isShown={false} of="users" />);
		const after = async (ms: number): Promise<readonly string[]> => {
			await vi.advanceTimersByTimeAsync(ms);
			return log.splice(0);
		};

		expect(await after(100_000)).toEqual([]);
		rerender(<Reader isShown of="users" />);
		expect(await after(100)).toEqual(['reads users', 'the store is away']);
		isAway = false;
		expect(await after(4800)).toEqual([]);
		expect(await after(200)).toEqual(['reads users', 'shows users']);
		expect(await after(59_000)).toEqual([]);
		expect(await after(1000)).toEqual(['reads users', 'shows users']);
		rerender(<Reader isShown of="days" />);
		expect(await after(100)).toEqual(['reads days', 'shows days']);
		rerender(<Reader isShown={false} of="days" />);
		expect(await after(200_000)).toEqual([]);
		unmount();
	} finally {
		vi.useRealTimers();
	}
});

import {expect, test} from 'vitest';
import {createWaitingLine} from '../../../source/commands/shared/waiting-line.js';
import {progressText} from '../../../source/format/queue/waiting-progress.js';
import {createVirtualClock} from '../../_helpers/virtual-clock.js';
import type {Progress} from '../../../source/core/operations/engine.js';

const progress: Progress = {
	kind: 'waiting',
	position: 1,
	waiting: 1,
	wanted: {count: 2},
	held: [],
	outOfService: [],
	unusable: [],
	unknown: [],
	estimateSeconds: 117,
};

/** Returns the line on a terminal of this width. */
function drawn(columns: number): string {
	const written: string[] = [];
	const line = createWaitingLine({
		progress: () => undefined,
		liveErrors: {
			write(text) {
				written.push(text);
			},
			columns: () => columns,
		},
		clock: createVirtualClock(),
	});
	line.show(progress);
	line.end();
	return written[0]!.replaceAll('\r\u{1B}[K', '');
}

test('the progress line of a waiting request fits the terminal width and always shows the waiting time', () => {
	expect(drawn(120)).toBe(`⠋ ${progressText(progress)} · 0h 0m 0s`);
	const narrow = drawn(50);
	expect(narrow).toMatch(/^⠋ .*… · 0h 0m 0s$/v);
	expect(narrow.length).toBeLessThan(50);
});

/** Shows the progress of a wait on stderr: a live line on a terminal, otherwise a line per change. */
import {progressText} from '../../format/queue/waiting-progress.js';
import {longDuration} from '../../format/text/durations.js';
import {truncate} from '../../format/text/width.js';
import type {App} from '../../app/contract.js';
import type {Progress} from '../../core/operations/engine.js';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 120;
const clearLine = '\r\u{1B}[K';

type WaitingLine = {
	readonly show: (progress: Progress) => void;
	readonly end: () => void;
};

export function createWaitingLine({
	progress: say,
	liveErrors,
	onWaiting,
	clock,
}: Pick<App, 'progress' | 'liveErrors' | 'onWaiting' | 'clock'>): WaitingLine {
	const startedMs = clock.monotonicMs();
	let words = '';
	let timer: NodeJS.Timeout | undefined;
	let frame = 0;
	const draw = (): void => {
		if (liveErrors === undefined) {
			return;
		}

		const before = `${frames[frame++ % frames.length]} `;
		const after = ` · ${longDuration((clock.monotonicMs() - startedMs) / 1000)}`;
		// A line that reaches the right edge would wrap and could not be cleared.
		const room = Math.max(10, liveErrors.columns() - 1 - before.length - after.length);
		liveErrors.write(`${clearLine}${before}${truncate(words, room)}${after}`);
	};

	return {
		show(progress) {
			if (onWaiting !== undefined) {
				onWaiting(progressText(progress, false));
				return;
			}

			words = progressText(progress);
			if (liveErrors === undefined) {
				say(words);
				return;
			}

			draw();
			timer ??= setInterval(draw, frameMs);
		},
		end() {
			clearInterval(timer);
			if (timer === undefined) {
				return;
			}

			timer = undefined;
			liveErrors?.write(clearLine);
		},
	};
}

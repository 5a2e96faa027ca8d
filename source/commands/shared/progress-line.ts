import type {App} from '../../app/contract.js';

const clearLine = '\r\u{1B}[K';

type ProgressLine = {
	readonly answered: (host: string) => void;
	/** Clears the line, calls `print`, and draws the line again below the printed text. */
	readonly around: (print: () => void) => void;
	readonly end: () => void;
};

export function createProgressLine({liveErrors}: Pick<App, 'liveErrors'>, hosts: readonly string[]): ProgressLine {
	const asked = new Set(hosts);

	const clear = (): void => {
		liveErrors?.write(clearLine);
	};

	const draw = (): void => {
		if (liveErrors === undefined || asked.size === 0) {
			return;
		}

		const words = `Asking ${[...asked].join(', ')}`;
		liveErrors.write(`${clearLine}${words.slice(0, Math.max(10, liveErrors.columns() - 1))}`);
	};

	draw();
	return {
		answered(host) {
			asked.delete(host);
			clear();
			draw();
		},
		around(print) {
			clear();
			print();
			draw();
		},
		end: clear,
	};
}

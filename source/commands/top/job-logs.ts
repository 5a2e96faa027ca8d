/** Implements `:logs` in the monitor: shows the end of a job's output and follows it. */
import type {Clock} from '../../core/model/ports.js';
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import type {App, OpenWorld} from '../../app/contract.js';
import type {LiveOutput} from '../../tui/ports.js';
import {findOutput} from '../jobs/logs.js';
import {namingReplaced} from './replaced.js';

const lookMs = 500;

const tailBytes = 65_536;

/** Returns the lines of an output without control sequences. Keeps only the last state of a progress bar. */
export const linesOfLog = (text: string): readonly string[] =>
	text
		.replace(/\n$/v, '')
		.split('\n')
		.map((line) => {
			const shown = (line.split('\r').findLast((part) => part !== '') ?? '').replaceAll('\t', ' '.repeat(4));
			const indent = /^ */v.exec(shown)![0];
			return indent + sanitize(shown);
		});

type Options = {
	readonly app: App;
	readonly world: OpenWorld;
	readonly clock: Pick<Clock, 'sleep'>;
	readonly broken: (error: unknown) => void;
};

export const logOutput = (id: string, {app, world, clock, broken}: Options): LiveOutput => ({
	begin(show) {
		const ending = new AbortController();
		const follow = async (): Promise<void> => {
			const {file} = await findOutput(app, world, id);
			const {openLog, readLogEnd} = await app.loadDetaching();
			openLog(file).close();
			let before: string | undefined;
			while (!ending.signal.aborted) {
				const text = readLogEnd(file, tailBytes) ?? before ?? '';
				if (text !== before) {
					before = text;
					show({lines: text === '' ? ['The job has not written any output yet'] : linesOfLog(text), isTail: true});
				}

				await clock.sleep(lookMs, ending.signal).catch(() => undefined);
			}
		};

		void (async () => {
			try {
				await namingReplaced(follow);
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					broken(error);
				} else if (!ending.signal.aborted) {
					show({lines: [error.message, error.hint ?? ''].map((line) => sanitize(line)).filter(Boolean)});
				}
			}
		})();

		return () => {
			ending.abort();
		};
	},
});

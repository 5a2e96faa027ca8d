/** Several monitors on one box, of which one runs the GPU tool for all. */
import {mkdirSync} from 'node:fs';
import process from 'node:process';
import {expect} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {createBox} from '../../_helpers/program/cli.js';
import {countingTool, scanShown} from '../../_helpers/machine/counting-tool.js';
import {startTop} from './_program.js';

/** Whether the screen shows at least this scan of GPU 0. */
const hasSeen =
	(scans: number) =>
	(screen: string): boolean =>
		scanShown(screen) >= scans;

slowTest(
	'three monitors share one scan per interval, and another monitor scans when the scanning monitor is killed',
	async () => {
		const box = createBox({CANHAZGPU_STORE: 'embedded'});
		mkdirSync(box.poolDirectory);
		const {searchPath, scans, forget} = countingTool(box);
		const askers = (): ReadonlySet<number> => new Set(scans().map(({asker}) => asker));
		const environment = {PATH: searchPath};
		expect(await box.run('admin --gpus 2 --provider nvidia', environment)).toMatchObject({exitCode: 0});
		forget();
		const monitors = Array.from({length: 3}, () => startTop(box, {flags: ['--interval', '0.5s'], environment}));

		await Promise.all(monitors.map(async (monitor) => monitor.waitFor(hasSeen(5))));
		const [scanner, ...others] = [...askers()];
		expect(others).toEqual([]);
		expect(monitors.map(({pid}) => pid)).toContain(scanner);

		process.kill(scanner!, 'SIGKILL');
		const living = monitors.filter(({pid}) => pid !== scanner);
		const scansBefore = scans().length;
		await Promise.all(living.map(async (monitor) => monitor.waitFor(hasSeen(scansBefore + 4))));
		expect(askers().size).toBe(2);
		box.remove();
	},
);

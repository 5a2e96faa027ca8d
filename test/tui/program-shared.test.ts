/**
Several monitors on one box: one of them asks the GPU tool, for all.
*/
import {chmodSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {createBox} from '../_helpers/cli.js';
import {fixture} from '../gpu/fixture.js';
import {startTop} from './_program.js';

/** An nvidia-smi that gets a degree hotter with each look, and notes down who asked. */
function countingTool(directory: string): {readonly askers: () => ReadonlySet<number>; readonly log: string} {
	const log = path.join(directory, 'askers');
	const tool = path.join(directory, 'nvidia-smi');
	writeFileSync(log, '');
	const script = `#!/bin/sh
case "$1" in
--query-gpu=*)
	echo "$PPID" >> '${log}'
	sed "s/, 31, 69.85/, $((20 + $(wc -l < '${log}'))), 69.85/" <<'EOF'
${fixture('gpus.two.csv')}EOF
	exit 0;;
--query-compute-apps=*)
	cat <<'EOF'
${fixture('processes.none.csv')}EOF
	exit 0;;
esac
exit 2
`;
	writeFileSync(tool, script);
	chmodSync(tool, 0o755);
	return {log, askers: () => new Set(readFileSync(log, 'utf8').trim().split('\n').filter(Boolean).map(Number))};
}

/** The screen says that GPU 0 has been looked at so often, at least. */
const hasSeen =
	(scans: number) =>
	(screen: string): boolean =>
		Number(/ 0 +FREE .* (?<degrees>\d+)C/v.exec(screen)?.groups?.['degrees']) >= 20 + scans;

test('three monitors cost one scan an interval; when that one is killed, another scans', async () => {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	mkdirSync(box.poolDirectory);
	const tools = path.join(box.home, 'tools');
	mkdirSync(tools);
	const {askers, log} = countingTool(tools);
	const environment = {PATH: `${tools}:${box.environment['PATH']}`};
	expect(await box.run('admin --gpus 2 --provider nvidia', environment)).toMatchObject({exitCode: 0});
	writeFileSync(log, '');
	const monitors = Array.from({length: 3}, () => startTop(box, {flags: ['--interval', '0.5s'], environment}));

	await Promise.all(monitors.map(async (monitor) => monitor.waitFor(hasSeen(5))));
	const [scanner, ...others] = [...askers()];
	expect(others).toEqual([]);
	expect(monitors.map(({pid}) => pid)).toContain(scanner);

	process.kill(scanner!, 'SIGKILL');
	const living = monitors.filter(({pid}) => pid !== scanner);
	const scansBefore = readFileSync(log, 'utf8').split('\n').length;
	await Promise.all(living.map(async (monitor) => monitor.waitFor(hasSeen(scansBefore + 3), 8000)));
	expect(askers().size).toBe(2);
	box.remove();
});

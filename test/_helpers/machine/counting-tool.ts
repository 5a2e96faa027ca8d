import path from 'node:path';
import {existsSync, readFileSync, rmSync} from 'node:fs';
import {fixture} from '../../gpu/fixture.js';
import type {Box} from '../program/cli.js';
import {stubTool} from './stub-tool.js';

/** A scan of the GPUs: the pid of the process that scanned, and the time in milliseconds since the epoch. */
export type CountedScan = {readonly asker: number; readonly ms: number};

export type CountingTool = {
	/** A PATH that finds this tool first. */
	readonly searchPath: string;
	readonly scans: () => readonly CountedScan[];
	/** Starts counting from the beginning. */
	readonly forget: () => void;
};

/**
Creates an nvidia-smi in the home of the box. It reports one degree more with each scan, starting at 20, and logs the caller and the time of each
scan.
*/
export function countingTool(box: Box): CountingTool {
	const log = path.join(box.home, 'scans');
	const lines = `case "$1" in
--query-gpu=*)
	echo "$PPID $(date +%s%3N)" >> '${log}'
	sed "s/, 31, 69.85/, $((20 + $(wc -l < '${log}') % ${degreeSpan})), 69.85/" <<'EOF'
${fixture('gpus/two.csv')}EOF
	exit 0;;
--query-compute-apps=*)
	cat <<'EOF'
${fixture('processes/none.csv')}EOF
	exit 0;;
esac
exit 2`;
	return {
		searchPath: stubTool(box, 'nvidia-smi', lines).searchPath,
		scans: () =>
			(existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [])
				.map((line) => line.split(' ').map(Number) as [number, number])
				.map(([asker, ms]) => ({asker, ms})),
		forget() {
			rmSync(log, {force: true});
		},
	};
}

/** The number of scans after which the temperature starts again at 20 degrees. */
export const degreeSpan = 60;

/** Returns the number of the scan that a monitor's screen shows for GPU 0, counted from 1. NaN before the first scan. */
export const scanShown = (screen: string): number =>
	Number(/ 0 +Free .* (?<degrees>\d+)C/v.exec(screen)?.groups?.['degrees']) - 20;

import path from 'node:path';
import {existsSync, readFileSync, rmSync} from 'node:fs';
import {fixture} from '../../gpu/fixture.js';
import type {Box} from '../program/cli.js';
import {stubTool} from './stub-tool.js';

/** A look at the GPUs: the pid of who asked, and when, in milliseconds since the epoch. */
export type CountedScan = {readonly asker: number; readonly ms: number};

export type CountingTool = {
	/** For the environment: the tool is found first. */
	readonly searchPath: string;
	readonly scans: () => readonly CountedScan[];
	/** Begins to count again. */
	readonly forget: () => void;
};

/**
An nvidia-smi that gets a degree hotter with each look, from 20 on, and notes down who asked, and when.

@param box - Where it is put.
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

/** After so many looks it is as cool as at the first. */
export const degreeSpan = 60;

/** Which look at GPU 0 the screen of a monitor shows, counted from 1; not a number before the first. */
export const scanShown = (screen: string): number =>
	Number(/ 0 +Free .* (?<degrees>\d+)C/v.exec(screen)?.groups?.['degrees']) - 20;

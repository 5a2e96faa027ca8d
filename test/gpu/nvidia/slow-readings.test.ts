import {expect, test} from 'vitest';
import {createSlowReadings} from '../../../source/gpu/nvidia/slow-readings.js';
import {idleReading} from '../../_helpers/world.js';

test('a scan says whether the kernel log could be read', async () => {
	const readWith = async (exitCode: number, stderr: string) => {
		const readings = createSlowReadings({
			run: async () => ({stdout: '', stderr, exitCode}),
			monotonicMs: () => 0,
			timeLimitMs: () => 1000,
			uptimeSeconds: () => 100,
			details: 'none',
		});
		const {signal} = new AbortController();
		return readings.begin({command: 'nvidia-smi', signal, isHanging: () => false})([idleReading(0)]);
	};

	expect(await readWith(0, '')).toEqual({gpus: [idleReading(0)]});
	expect(await readWith(1, 'Operation not permitted')).toEqual({gpus: [idleReading(0)], lacksKernelLog: true});
});

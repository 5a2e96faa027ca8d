import {execFileSync} from 'node:child_process';
import process from 'node:process';
import {expect, test} from 'vitest';
import {createHost} from '../../source/host/host.js';
import {monotonicClockId, monotonicSeconds} from '../../source/host/monotonic.js';

test('monotonicSeconds returns the time of the same clock in every process', () => {
	const before = monotonicSeconds()!;
	const script = 'process.stdout.write(String(process.hrtime.bigint()))';
	const other = Number(execFileSync(process.execPath, ['-e', script], {encoding: 'utf8'})) / 1e9;
	const after = monotonicSeconds()!;
	expect(other).toBeGreaterThan(before);
	expect(other).toBeLessThan(after);
});

test('monotonicClockId contains the boot id and the time namespace', () => {
	const origin = {machineId: 'm', bootId: 'b', timeNamespace: '7'};
	expect(monotonicClockId(origin)).toBe('b/7');
	expect(monotonicClockId({...origin, machineId: 'container'})).toBe('b/7');
	expect(monotonicClockId({...origin, timeNamespace: undefined})).toBe('b');
	expect(monotonicClockId({...origin, bootId: undefined})).toBe('unknown-boot-of-m/7');
	const {monotonic, bootId, machineId, self} = createHost();
	expect(monotonic.id).toBe(monotonicClockId({machineId, bootId, timeNamespace: self.timeNamespace}));
});

import {expect, test} from 'vitest';
import {randomId} from '../../../source/host/tool/random-id.js';

test.each([
	['the kernel', '/proc/sys/kernel/random/uuid'],
	['Node, where the kernel has none', '/nonexistent'],
	['Node, where the file holds something else', '/proc/self/comm'],
])('an id comes from %s, and is another each time', (_, file) => {
	const ids = Array.from({length: 20}, () => randomId(file));
	expect(new Set(ids).size).toBe(20);
	expect(ids.every((id) => /^[\da-f]{8}-[\da-f]{4}-[1-5][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/v.test(id))).toBe(
		true,
	);
});

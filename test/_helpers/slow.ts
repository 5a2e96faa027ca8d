/** Tests that take many seconds each. `npm run test:long` runs them; `npm test` skips them because it has ten minutes for everything. */
import process from 'node:process';
import {test} from 'vitest';

/** A slow test with a further condition. */
export const isLong = process.env['LONG_TESTS'] === '1';

export const slowTest = test.runIf(isLong);

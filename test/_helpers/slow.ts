/**
Tests that take many seconds each: `npm run test:long` runs them, and `npm test`, which has ten minutes for everything, leaves them out.
*/
import process from 'node:process';
import {test} from 'vitest';

/** For a slow test that has another condition besides. */
export const isLong = process.env['LONG_TESTS'] === '1';

export const slowTest = test.runIf(isLong);

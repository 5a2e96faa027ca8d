/** Tests that run only in `npm run test:long`, because `npm test` has ten minutes for everything. */
import process from 'node:process';
import {test} from 'vitest';

/** Whether this is `npm run test:long`. */
export const isLong = process.env['LONG_TESTS'] === '1';

/** A test that takes many seconds, or one of many tests of the same behaviour. */
export const slowTest = test.runIf(isLong);

/**
Returns only the first of these cases in `npm test`, and all of them in `npm run test:long`. For tests of the whole program that differ in one
detail, such as the store or the signal.
*/
export const firstCase = <const Case>(cases: readonly Case[]): readonly Case[] => (isLong ? cases : cases.slice(0, 1));

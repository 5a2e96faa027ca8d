/** Tests that run only in `npm run test:long`. `npm test` has a time limit of ten minutes. */
import process from 'node:process';
import {test} from 'vitest';

/** Whether `npm run test:long` runs. */
export const isLong = process.env['LONG_TESTS'] === '1';

/** Defines a test that takes many seconds, or that repeats another test in more detail. */
export const slowTest = test.runIf(isLong);

/**
Returns only the first of these cases in `npm test`, and all of them in `npm run test:long`. For tests of the whole program that differ in one
detail, such as the store or the signal.
*/
export const firstCase = <const Case>(cases: readonly Case[]): readonly Case[] => (isLong ? cases : cases.slice(0, 1));

/** Returns every `n`th case in `npm test`, and every case in `npm run test:long`. For long tables of similar cases. */
export const everyNth = <Case>(cases: readonly Case[], n: number): readonly Case[] =>
	isLong ? cases : cases.filter((_, index) => index % n === 0);

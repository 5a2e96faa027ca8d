import type {Observation} from '../../core/model/types.js';
import {cap, plain} from './text.js';
import type {ToolOutcome} from './tool.js';

export type Failure = NonNullable<Observation['failure']>;

export type KnownFailure = {
	readonly exitCode?: number;
	readonly words: RegExp;
	readonly message: string;
	readonly hint: string;
};

export type DriverText = {
	readonly known: readonly KnownFailure[];
	readonly missingHint: string;
	readonly hangHint: string;
};

/** Explains to the user why a tool gave no readings. Prefers the tool's message to its exit code, which can come from a wrapper script. */
export const explainRun = (outcome: ToolOutcome, command: string, timeoutMs: number, driver: DriverText): Failure => {
	const {failure, detail, exitCode, signal} = outcome;
	switch (failure) {
		case 'not-found': {
			return {message: `${command} was not found.`, hint: driver.missingHint, isToolMissing: true};
		}

		case 'not-executable': {
			return {message: `${command} cannot be executed.`, hint: detail, isToolMissing: true};
		}

		case 'timed-out': {
			return {
				message: `${command} did not answer within ${seconds(timeoutMs)}.`,
				hint: `If it is only slow, give it more time: CANHAZGPU_GPU_TIMEOUT=60s, or gpu.timeout in a config file. ${driver.hangHint}`,
			};
		}

		case 'too-much-output': {
			return {message: `${command} printed much more than a table of GPUs.`, hint: firstLine(outcome)};
		}

		case 'aborted': {
			return {message: `${command} was stopped because the scan was no longer wanted.`};
		}

		case 'failed': {
			return {message: `${command} could not be started: ${detail ?? 'no reason given'}.`};
		}

		case undefined: {
			break;
		}
	}

	const said = firstLine(outcome);
	const known =
		driver.known.find(({words}) => words.test(outcome.stdout) || words.test(outcome.stderr)) ??
		driver.known.find((one) => one.exitCode !== undefined && one.exitCode === exitCode);
	if (known !== undefined) {
		return {message: known.message, hint: known.hint};
	}

	if (exitCode === 0) {
		return {message: `${command} printed no table of GPUs.`, hint: said};
	}

	const end = signal === undefined ? `exited with ${exitCode ?? 'no code'}` : `was ended by ${signal}`;
	return {message: `${command} ${end}.`, hint: said};
};

/** Explains that no other run of the tool is started while one run cannot be killed. */
export const explainHanging = (command: string, sinceMs: number, {hangHint}: DriverText): Failure => ({
	message: `${command} has hung for ${seconds(sinceMs)} and cannot be ended, so it is not started again.`,
	hint: hangHint,
});

const seconds = (milliseconds: number): string =>
	milliseconds < 10_000 ? `${Math.round(milliseconds / 100) / 10} s` : `${Math.round(milliseconds / 1000)} s`;

const firstLine = ({stdout, stderr}: ToolOutcome): string | undefined => {
	const line = `${stderr}\n${stdout}`
		.split('\n')
		.map((text) => plain(text).trim())
		.find((text) => text !== '');
	return line === undefined ? undefined : `It said: ${cap(line, 300)}`;
};

const mostWarnings = 20;

/** Removes duplicate and excessive warnings, and the word "warning" at the beginning, which the interfaces add themselves. */
export const tidyWarnings = (warnings: readonly string[]): readonly string[] =>
	[...new Set(warnings.map((warning) => cap(plain(warning).replace(/^warning:\s*/iv, ''), 300)))].slice(
		0,
		mostWarnings,
	);

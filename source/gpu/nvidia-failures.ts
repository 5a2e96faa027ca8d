import type {Observation} from '../core/types.js';
import {cap} from './nvidia-csv.js';
import type {ToolOutcome} from './tool.js';

type Failure = NonNullable<Observation['failure']>;

type KnownFailure = {
	/**
	The exit code, a return code of NVML (nvidia-smi(1), RETURN VALUE).
	*/
	readonly exitCode?: number;
	readonly words: RegExp;
	readonly message: string;
	readonly hint: string;
};

/**
How nvidia-smi fails as a whole. Its words are looked at before its exit code: they are more exact, and the code of a wrapper
script or of an old driver may be anything.
*/
const knownFailures: readonly KnownFailure[] = [
	{
		exitCode: 9,
		words: /couldn't communicate with the nvidia driver|driver not loaded/iv,
		message: 'The NVIDIA driver is not loaded.',
		hint: 'Load it with `sudo modprobe nvidia`. After a kernel update it may have to be built again, or the machine rebooted.',
	},
	{
		exitCode: 18,
		words: /driver\/library version mismatch/iv,
		message: 'The NVIDIA driver was updated while an older one is still loaded (driver/library version mismatch).',
		hint: 'Reboot, or reload the driver once no process uses a GPU.',
	},
	{
		exitCode: 6,
		words: /no devices were found/iv,
		message: 'The NVIDIA driver finds no GPU.',
		hint: 'See `sudo dmesg | grep -i nvrm` for why; in a container, check that GPUs were passed to it.',
	},
	{
		exitCode: 15,
		words: /gpu is lost/iv,
		message: 'A GPU has fallen off the bus.',
		hint: 'Reboot the machine to recover it; see `sudo dmesg | grep -i xid`.',
	},
	{
		exitCode: 12,
		words: /couldn't find libnvidia-ml|nvml shared library/iv,
		message: "nvidia-smi does not find the driver's library (libnvidia-ml.so).",
		hint: 'Install the driver completely; in a container, start it with the NVIDIA runtime.',
	},
	{
		exitCode: 17,
		words: /blocked by the operating system/iv,
		message: 'The system blocks access to the GPUs.',
		hint: 'Check the cgroup and the permissions of /dev/nvidia*.',
	},
	{
		exitCode: 4,
		words: /insufficient permissions/iv,
		message: 'This account may not ask the GPUs.',
		hint: 'Check the permissions of /dev/nvidia*.',
	},
	{
		words: /unable to determine the device handle/iv,
		message: 'The NVIDIA driver cannot reach a GPU.',
		hint: 'See `sudo dmesg | grep -i xid`; the GPU may need a reset or the machine a reboot.',
	},
	{
		words: /failed to initialize nvml: unknown error/iv,
		message: 'nvidia-smi cannot reach the driver (Failed to initialize NVML: Unknown Error).',
		hint: 'In a container, its access to the GPUs was lost: restart it. Elsewhere see `sudo dmesg | grep -i nvrm`.',
	},
];

const hangHint = 'The driver may hang; see `sudo dmesg | grep -i -E "nvrm|xid"`.';

/**
Says why a run of nvidia-smi gave no readings, in words for the user.
*/
export const explainFailure = (outcome: ToolOutcome, command: string, timeoutMs: number): Failure => {
	const {failure, detail, exitCode, signal} = outcome;
	switch (failure) {
		case 'not-found': {
			return {
				message: `${command} was not found.`,
				hint: 'Is the NVIDIA driver installed, and its directory in PATH?',
			};
		}

		case 'not-executable': {
			return {message: `${command} cannot be executed.`, hint: detail};
		}

		case 'timed-out': {
			return {message: `${command} did not answer within ${seconds(timeoutMs)}.`, hint: hangHint};
		}

		case 'too-much-output': {
			return {message: `${command} printed far more than a table of GPUs.`, hint: firstLine(outcome)};
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
		knownFailures.find(({words}) => words.test(outcome.stdout) || words.test(outcome.stderr)) ??
		knownFailures.find((one) => one.exitCode !== undefined && one.exitCode === exitCode);
	if (known !== undefined) {
		return {message: known.message, hint: known.hint};
	}

	if (exitCode === 0) {
		return {message: `${command} printed no table of GPUs.`, hint: said};
	}

	const end = signal === undefined ? `exited with ${exitCode ?? 'no code'}` : `was ended by ${signal}`;
	return {message: `${command} ${end}.`, hint: said};
};

/**
While a run of the tool cannot even be killed, no other is started beside it.
*/
export const explainHang = (command: string, sinceMs: number): Failure => ({
	message: `${command} has hung for ${seconds(sinceMs)} and cannot be ended, so the GPUs are not asked again.`,
	hint: hangHint,
});

const seconds = (milliseconds: number): string =>
	milliseconds < 10_000 ? `${Math.round(milliseconds / 100) / 10} s` : `${Math.round(milliseconds / 1000)} s`;

const firstLine = ({stdout, stderr}: ToolOutcome): string | undefined => {
	const line = `${stderr}\n${stdout}`
		.split('\n')
		.map((text) => text.trim())
		.find((text) => text !== '');
	return line === undefined ? undefined : `It said: ${cap(line, 300)}`;
};

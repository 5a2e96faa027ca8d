import {explainRun, type DriverText, type Failure, type KnownFailure} from '../../tool/failures.js';
import type {ToolOutcome} from '../../tool/tool.js';

/** Total failures of nvidia-smi. Its exit codes are NVML's return codes (nvidia-smi(1), RETURN VALUE). */
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
		message: 'The NVIDIA driver was updated, but the older version is still loaded (driver/library version mismatch).',
		hint: 'Reboot, or reload the driver once no process uses a GPU.',
	},
	{
		exitCode: 6,
		words: /no devices were found/iv,
		message: 'The NVIDIA driver cannot find a GPU.',
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
		message: "nvidia-smi cannot find the driver's library (libnvidia-ml.so).",
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
		message: 'This account is not allowed to access the GPUs.',
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
		hint: 'If this is a container, it has lost its access to the GPUs: restart it. Otherwise, see `sudo dmesg | grep -i nvrm`.',
	},
];

export const nvidiaDriver: DriverText = {
	known: knownFailures,
	missingHint: 'Is the NVIDIA driver installed, and its directory in PATH?',
	hangHint: 'The driver may be stuck; see `sudo dmesg | grep -i -E "nvrm|xid"`.',
};

export const explainFailure = (outcome: ToolOutcome, command: string, timeoutMs: number): Failure =>
	explainRun(outcome, command, timeoutMs, nvidiaDriver);

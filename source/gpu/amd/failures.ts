import {type DriverText, explainRun, type Failure} from '../tool/failures.js';
import {parseToolJson} from '../tool/json.js';
import type {ToolOutcome} from '../tool/tool.js';
import {isObject, readText} from './json.js';

export const amdDriver: DriverText = {
	known: [
		{
			words: /modulenotfounderror|importerror|libamd_smi\.so|librocm_smi64/iv,
			message: 'The library of the AMD GPU tool is missing or has the wrong version.',
			hint: 'Install ROCm completely (packages amd-smi-lib, rocm-smi-lib).',
		},
		{
			words:
				/driver (?:not|is not|isn't) (?:loaded|initialized|running)|status_not_init|driver_not_loaded|amdgpu not found/iv,
			message: 'The AMD GPU driver (amdgpu) is not loaded.',
			hint: 'Load it with `sudo modprobe amdgpu`. After a kernel update it may have to be built again, or the machine rebooted.',
		},
		{
			words: /missing the following required groups|permission denied|no_perm\b|\/dev\/kfd/iv,
			message: 'This account is not allowed to access the GPUs.',
			hint: 'Add it to the groups of /dev/kfd and /dev/dri: `sudo usermod -aG render,video NAME`, then log in again.',
		},
		{
			words:
				/can ?not find a device|cannot be found on the system|no (?:amd )?gpus? (?:were |was )?(?:found|detected|available|specified)|^\s*(?:\{\s*"gpu_data":\s*)?\[\s*\]\s*(?:\}\s*)?$/iv,
			message: 'The AMD GPU driver cannot find a GPU.',
			hint: 'See `sudo dmesg | grep -i amdgpu` for why; in a container, check that /dev/kfd and /dev/dri were passed to it.',
		},
	],
	missingHint: 'Is ROCm installed, and its directory (often /opt/rocm/bin) in PATH?',
	hangHint: 'The driver may be stuck; see `sudo dmesg | grep -i amdgpu`.',
};

export const errorText = ({stdout, stderr}: ToolOutcome): string | undefined => {
	for (const document of [stdout, stderr].flatMap((text) => parseToolJson(text)?.documents ?? [])) {
		const one: unknown = Array.isArray(document) ? document[0] : document;
		const words = isObject(one) ? readText(one['error']) : undefined;
		if (words !== undefined) {
			return words;
		}
	}

	return undefined;
};

export const explainAmdFailure = (outcome: ToolOutcome, command: string, timeoutMs: number): Failure => {
	const words = outcome.failure === undefined ? errorText(outcome) : undefined;
	return explainRun(
		words === undefined ? outcome : {...outcome, stdout: words, stderr: ''},
		command,
		timeoutMs,
		amdDriver,
	);
};

export const processesWarning = (...call: Parameters<typeof explainAmdFailure>): string =>
	`The processes could not be read: ${explainAmdFailure(...call).message}`;

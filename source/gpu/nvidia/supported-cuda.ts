import type {RunTool} from '../tool/tool.js';

const timeoutMs = 10_000;

/** Returns the newest CUDA version that the driver supports, such as `12.4`, according to `nvidia-smi -q`. Undefined if unknown. */
export async function readSupportedCuda(run: RunTool): Promise<string | undefined> {
	const {stdout} = await run('nvidia-smi', ['-q', '-d', 'COMPUTE'], {timeoutMs});
	return /^CUDA Version\s*:\s*(?<version>\d+\.\d+)\s*$/mv.exec(stdout)?.groups!['version'];
}

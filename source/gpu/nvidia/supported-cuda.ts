import type {RunTool} from '../tool/tool.js';

const timeoutMs = 10_000;

/**
The newest version of CUDA that the driver supports, such as `12.4`, as `nvidia-smi -q` heads its answer: `CUDA Version : 12.4`. Undefined where
nothing says so.
*/
export async function readSupportedCuda(run: RunTool): Promise<string | undefined> {
	const {stdout} = await run('nvidia-smi', ['-q', '-d', 'COMPUTE'], {timeoutMs});
	return /^CUDA Version\s*:\s*(?<version>\d+\.\d+)\s*$/mv.exec(stdout)?.groups!['version'];
}

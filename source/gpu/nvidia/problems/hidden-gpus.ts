/** Detects GPUs that are hidden, as in an isolated job. The driver lists all GPUs. The tool omits hidden GPUs and numbers the rest from 0. */
import path from 'node:path';
import {normalizePciBusId} from '../../../core/model/observation.js';
import type {GpuReading, Observation} from '../../../core/model/types.js';
import type {RunTool} from '../../tool/tool.js';
import {listDriverGpus, readDriverGpus} from './driver.js';

type Options = {
	readonly run: RunTool;
	readonly gpusDirectory: string;
	readonly devicesDirectory: string;
};

type Listed = {readonly pciBusId: string; readonly device: string};

/** Returns the driver's facts about its GPUs, in the order in which the tool numbers them. */
async function readListed({run, gpusDirectory, devicesDirectory}: Options): Promise<readonly Listed[]> {
	const gpus = await readDriverGpus(run, gpusDirectory);
	return gpus
		.flatMap(({directory, minor, isExcluded}): readonly Listed[] => {
			const pciBusId = normalizePciBusId(path.basename(directory));
			return minor === undefined || pciBusId === undefined || isExcluded
				? []
				: [{pciBusId, device: path.join(devicesDirectory, `nvidia${minor}`)}];
		})
		.toSorted((a, b) => a.pciBusId.localeCompare(b.pciBusId, 'en'));
}

/** Whether all devices are missing or forbidden. Any other error, as of a broken GPU, does not count. Uses a child process: drivers can be slow. */
async function areKeptFromUs(run: RunTool, devices: readonly string[]): Promise<boolean> {
	const script = [
		'LC_ALL=C; export LC_ALL',
		'for device do',
		'case $( (: <"$device") 2>&1) in *"ermission denied"* | *"not permitted"* | *"o such file"*) ;; *) exit 1;; esac',
		'done',
		'echo kept',
	].join('\n');
	const {stdout} = await run('sh', ['-c', script, 'sh', ...devices], {timeoutMs: 1000});
	return stdout === 'kept\n';
}

type PlacedGpus = Pick<Observation, 'gpus' | 'isPartial'>;

/** Creates a function that gives GPUs the numbers that they have outside of the job. If no GPU is hidden, the numbers stay the same. */
export const createHiddenGpus = (options: Options): ((gpus: readonly GpuReading[]) => Promise<PlacedGpus>) => {
	/** The result for these visible GPUs. Cached, because the devices that a process can open do not change while it runs. */
	let known: {readonly seen: string; readonly all: readonly Listed[] | undefined} | undefined;

	const findAll = async (gpus: readonly GpuReading[]): Promise<readonly Listed[] | undefined> => {
		const all = await readListed(options);
		const hidden = all.filter(({pciBusId}) => gpus.every((gpu) => gpu.pciBusId !== pciBusId));
		const isSubset = hidden.length > 0 && all.length === gpus.length + hidden.length;
		return isSubset &&
			(await areKeptFromUs(
				options.run,
				hidden.map(({device}) => device),
			))
			? all
			: undefined;
	};

	return async (gpus) => {
		if (gpus.length === 0 || gpus.length >= (await listDriverGpus(options.gpusDirectory)).length) {
			return {gpus};
		}

		const seen = gpus.map(({pciBusId}) => pciBusId).join(' ');
		if (known?.seen !== seen) {
			known = {seen, all: await findAll(gpus)};
		}

		const {all} = known;
		return all === undefined
			? {gpus}
			: {
					isPartial: true,
					gpus: all.map(({pciBusId}, index): GpuReading => {
						const reading = gpus.find((gpu) => gpu.pciBusId === pciBusId);
						return reading === undefined
							? {
									index,
									pciBusId,
									processes: undefined,
									unknown: {},
									failure: 'this process cannot open the device of this GPU, which is normal in an isolated job',
								}
							: {...reading, index};
					}),
				};
	};
};

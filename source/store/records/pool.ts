import {CanhazgpuError} from '../../errors.js';
import {mostGpus, providerNames, type ProviderName} from '../../core/model/observation.js';
import type {Pool} from '../../core/model/types.js';
import {readRecord} from './json/fields.js';
import {readBoot} from './process.js';
import {textOf} from './json/raw.js';
import {optionalText, requiredText, writeRecord} from './json/write.js';

/** The provider of old pools of the Go program, which do not name their provider. All of them had NVIDIA GPUs. */
export const earlyProvider: ProviderName = 'nvidia';

export type RawPool = {
	readonly gpuCount: string | undefined;
	readonly provider: string | undefined;
	readonly machine: string | undefined;
};

export type PoolOwner = Pick<Pool, 'machine'>;

/** Returns the error for a damaged pool. Its details are the owner of the pool, if the owner is known. */
export const poolGarbage = (
	problem: string,
	{
		hint = 'Correct that value. Or remove it and run canhazgpu admin, but without --force, which would end all reservations',
		owner,
	}: {readonly hint?: string; readonly owner?: PoolOwner} = {},
): CanhazgpuError => new CanhazgpuError('pool-garbage', `The GPU pool is damaged: ${problem}`, {hint, details: owner});

const quote = (raw: string): string => JSON.stringify(textOf(raw).slice(0, 40));

/** Decodes a pool. Undefined if there is none. Throws `pool-garbage` if the values are invalid. */
export function decodePool(raw: RawPool): Pool | undefined {
	if (raw.gpuCount === undefined) {
		return undefined;
	}

	const owner = decodeOwner(raw.machine);
	const gpuCount = /^[1-9]\d{0,3}$/v.test(raw.gpuCount) ? Number(raw.gpuCount) : 0;
	if (gpuCount < 1 || gpuCount > mostGpus) {
		throw poolGarbage(`gpu_count is ${quote(raw.gpuCount)}, which is not a number from 1 to ${mostGpus}`, {owner});
	}

	const provider = providerNames.find((name) => name === (raw.provider ?? earlyProvider));
	if (provider === undefined) {
		throw poolGarbage(`provider is ${quote(raw.provider!)}, which is not ${providerNames.join(', ')}`, {owner});
	}

	return {gpuCount, provider, ...owner};
}

/** Decodes the machine of a pool. Empty for a pool of the Go program, which records no machine. */
export const decodeOwner = (machine: string | undefined): PoolOwner =>
	machine === undefined ? {} : {machine: decodeMachine(machine)};

/** Cache of the last decoded machine, because the stored value hardly ever changes. */
let lastMachine: {readonly raw: string; readonly machine: NonNullable<Pool['machine']>} | undefined;

function decodeMachine(raw: string): NonNullable<Pool['machine']> {
	if (lastMachine?.raw === raw) {
		return lastMachine.machine;
	}

	const machine = readRecord(raw, (fields) => ({
		id: fields.required('machine_id', fields.text('machine_id')),
		bootId: readBoot(fields),
		movedTo: fields.text('moved_to'),
	}));
	if ('problem' in machine) {
		throw poolGarbage(`its record of the machine is invalid: ${machine.problem}`);
	}

	lastMachine = {raw, machine: machine.value};
	return machine.value;
}

export const encodePool = ({gpuCount, provider, machine}: Pool): RawPool => ({
	gpuCount: String(gpuCount),
	provider,
	machine:
		machine &&
		writeRecord({
			machine_id: requiredText(machine.id, 'The machine of a pool'),
			boot_id: optionalText(machine.bootId),
			moved_to: optionalText(machine.movedTo),
		}),
});

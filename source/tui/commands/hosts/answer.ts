/** Changes a reservation on another host, and converts the output of that host to an outcome. */
import {CanhazgpuError} from '../../../errors.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import type {HostAnswer, HostsPort} from '../../ports.js';
import type {Done, EffectContext, Outcome} from '../command.js';
import type {RemoteHolding} from './target.js';

export type Refusal = Extract<Outcome, {readonly kind: 'refused'}>;

/** The exit code if GPUs are not available now. */
const notNow = 3;

export function refusedByHost(host: string, {exitCode, stderr}: HostAnswer): Refusal {
	const lines = stderr.trim().split('\n');
	const index = lines.findIndex((line) => line.startsWith('Error: '));
	const message = index === -1 ? (lines.at(-1) ?? '') : lines[index]!.slice('Error: '.length);
	const words = message.trim() === '' ? `canhazgpu on that host ended with exit code ${exitCode}` : message;
	return {
		kind: 'refused',
		complaint: {
			message: sanitize(`${host}: ${words}`),
			hint: index === -1 ? '' : sanitize(lines.slice(index + 1).join(' ')),
			canWait: exitCode === notNow,
		},
	};
}

/** Returns the functions for other hosts. Throws a CanhazgpuError if the monitor was started without other hosts. */
export function hostsPort({ports}: EffectContext): HostsPort {
	if (ports.hosts === undefined) {
		throw new CanhazgpuError('failed', 'This monitor cannot ask other hosts');
	}

	return ports.hosts;
}

/**
Checks that GPUs still belong to the reservation that was shown. Needed for a host that does not support `--lease`, because a change by GPU numbers
could otherwise affect the reservation of another user, or a later reservation of the same user.

@throws CanhazgpuError if the GPUs belong to another reservation.
*/
async function requireStillHeld(port: HostsPort, {host, gpus, leaseId}: RemoteHolding): Promise<void> {
	if (leaseId === undefined) {
		return;
	}

	const {gpus: now} = await port.ask(host);
	const lost = gpus.filter((index) => now.find(({gpu_id: id}) => id === index)?.lease_id !== leaseId);
	if (lost.length > 0) {
		throw new CanhazgpuError(
			'failed',
			`${host}: ${lost.length === 1 ? 'that reservation' : 'those reservations'} of ${gpuList(lost)} already ended`,
		);
	}
}

/** Returns the flag that the host does not support, without dashes. Matches the errors of the Go program and of earlier versions. */
export const unknownFlagIn = ({stderr}: HostAnswer): string | undefined =>
	/(?:unknown flag:|has no flag) --(?<flag>[\w\-]+)/v.exec(stderr)?.groups!['flag'];

/**
Changes a reservation on another host. The host compares the reservation's id when it makes the change, so a later reservation of the same GPUs is
never changed.

@param words - The command and its flags. They name the reservation by its id, if it has one.
@param success - The outcome if the host makes the change.
@throws CanhazgpuError if the connection fails, or if the host does not support `--lease` and the reservation has ended.
*/
export async function changeOnHost(
	context: EffectContext,
	held: RemoteHolding,
	words: (held: RemoteHolding) => readonly string[],
	success: Done,
): Promise<Outcome> {
	const port = hostsPort(context);
	let answer = await port.run(held.host, words(held), {isUnbounded: false});
	if (held.leaseId !== undefined && unknownFlagIn(answer) === 'lease') {
		await requireStillHeld(port, held);
		answer = await port.run(held.host, words({...held, leaseId: undefined}), {isUnbounded: false});
	}

	return answer.exitCode === 0 ? success : refusedByHost(held.host, answer);
}

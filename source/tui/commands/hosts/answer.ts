/** Changes a reservation on another host, and turns its output into an outcome. */
import {CanhazgpuError} from '../../../errors.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import type {HostAnswer, HostsPort} from '../../ports.js';
import type {Complaint} from '../../state/messages.js';
import type {EffectContext, Outcome} from '../command.js';
import type {RemoteHolding} from './target.js';

/** Exit code for GPUs that are not available. */
const notNow = 3;

function complaintOf(host: string, {exitCode, stderr}: HostAnswer): Complaint {
	const lines = stderr.trim().split('\n');
	const index = lines.findIndex((line) => line.startsWith('Error: '));
	const message = index === -1 ? (lines.at(-1) ?? '') : lines[index]!.slice('Error: '.length);
	const words = message.trim() === '' ? `canhazgpu there ended with ${exitCode}` : message;
	return {
		message: sanitize(`${host}: ${words}`),
		hint: index === -1 ? '' : sanitize(lines.slice(index + 1).join(' ')),
		canWait: exitCode === notNow,
	};
}

export const refusedByHost = (host: string, answer: HostAnswer): Outcome => ({
	kind: 'refused',
	complaint: complaintOf(host, answer),
});

/** @throws CanhazgpuError if the monitor was started without other hosts. */
export function hostsPort({ports}: EffectContext): HostsPort {
	if (ports.hosts === undefined) {
		throw new CanhazgpuError('failed', 'This monitor cannot ask other hosts');
	}

	return ports.hosts;
}

/**
Asks a host without `--lease` again before a change by GPU numbers. The GPUs may now belong to somebody else, or to a later
reservation of the same user.

@throws CanhazgpuError if the reservation is not the one that was shown.
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
			`${host}: ${lost.length === 1 ? 'that reservation' : 'those reservations'} of ${gpuList(lost)} ended meanwhile`,
		);
	}
}

/** Whether the host does not know the flag `--lease`, like the Go program and older versions of this program. */
const knowsNoLease = ({exitCode, stderr}: HostAnswer): boolean => exitCode !== 0 && stderr.includes('--lease');

/**
Changes a reservation on another host. That host compares its id in the same step, so that a later reservation of the same GPUs is never changed.

@param words - The command and its flags, which name the reservation by its id if there is one.
@throws CanhazgpuError if the connection fails, or if an older version now reports another reservation.
*/
export async function changeOnHost<Held extends RemoteHolding>(
	context: EffectContext,
	held: Held,
	words: (held: RemoteHolding) => readonly string[],
): Promise<HostAnswer> {
	const port = hostsPort(context);
	const answer = await port.run(held.host, words(held), {isUnbounded: false});
	if (held.leaseId === undefined || !knowsNoLease(answer)) {
		return answer;
	}

	await requireStillHeld(port, held);
	return port.run(held.host, words({...held, leaseId: undefined}), {isUnbounded: false});
}

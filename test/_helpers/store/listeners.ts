/** The listening ports and handled signals of a process, as the kernel reports them. */
import {readdirSync, readFileSync, readlinkSync} from 'node:fs';

const listening = '0A';

/** Returns the TCP ports on which a process listens, sorted. Empty if the process has ended. */
export function portsOf(pid: number): readonly number[] {
	const sockets = new Set<string>();
	const ports = new Set<number>();
	try {
		for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
			try {
				sockets.add(
					/^socket:\[(?<inode>\d+)\]$/v.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.groups?.['inode'] ?? '',
				);
			} catch {
				// The descriptor has been closed since.
			}
		}

		for (const table of ['tcp', 'tcp6']) {
			for (const line of readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1)) {
				const cells = line.trim().split(/\s+/v);
				if (cells[3] === listening && sockets.has(cells[9] ?? '')) {
					ports.add(Number.parseInt(cells[1]!.split(':', 2)[1]!, 16));
				}
			}
		}
	} catch {
		return [];
	}

	return [...ports].toSorted((a, b) => a - b);
}

/** Whether a signal is in one of the sets of /proc/PID/status: caught, ignored or pending. */
export function hasSignal(pid: number, set: 'SigCgt' | 'SigIgn' | 'ShdPnd', signal: number): boolean {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	const mask = BigInt(
		`0x${new RegExp(String.raw`^${set}:\s*(?<mask>[0-9a-f]+)$`, 'mv').exec(status)!.groups!['mask']!}`,
	);
	// eslint-disable-next-line no-bitwise -- a set of signals is a mask
	return ((mask >> BigInt(signal - 1)) & 1n) === 1n;
}

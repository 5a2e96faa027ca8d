import {readFileSync} from 'node:fs';

export type Connection = {
	readonly remoteAddress?: string;
	readonly remotePort?: number;
	readonly localAddress?: string;
	readonly localPort?: number;
};

/** Converts an IPv4-mapped address such as `::ffff:10.0.0.1` to plain IPv4. */
export const plainAddress = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/v, '');

const isOfThisMachine = (remote: string, local: string): boolean =>
	remote === '::1' || remote.startsWith('127.') || remote === local;

/** Returns the eight parts of an IPv6 address, without leading zeros. */
function partsOf(address: string): readonly string[] {
	const [head = '', tail] = address.split('%', 1)[0]!.split('::', 2);
	const first = head === '' ? [] : head.split(':');
	const last = tail === undefined || tail === '' ? [] : tail.split(':');
	return [...first, ...Array.from({length: Math.max(0, 8 - first.length - last.length)}, () => '0'), ...last];
}

/** Reverses the bytes of a 32-bit word, because the kernel prints such words in little-endian order. */
const asPrinted = (digits: string): string => digits.match(/../gv)!.toReversed().join('').toUpperCase();

const hexOf = (address: string): string =>
	(address.includes(':')
		? partsOf(address).map((part) => part.padStart(4, '0'))
		: address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
	)
		.join('')
		.replaceAll(/.{8}/gv, (digits) => asPrinted(digits));

const mappedPrefix = '0000000000000000FFFF0000';

const endHex = (address: string, port: number): string =>
	`${hexOf(address)}:${port.toString(16).padStart(4, '0').toUpperCase()}`;

/** Matches a line of /proc/net/tcp. Its columns are number, local, remote, state, queues, timer, retransmits, uid. */
const uidPattern = /^\s*\d+: (?<local>\S+) (?<remote>\S+) \S+ \S+ \S+ \S+ +(?<uid>\d+)/v;

/** The largest number of sockets to search for one by one. One search takes about a tenth of the time of parsing a whole table. */
const mostSearched = 8;

const tableFiles = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Returns the uids of sockets from the kernel's tables. Searches for each socket if there are few sockets, and otherwise parses whole tables. */
function socketOwners(wanted: ReadonlySet<string>, read: (file: string) => string): ReadonlyMap<string, string> {
	const owners = new Map<string, string>();
	const add = (line: string): void => {
		const {local, remote, uid} = uidPattern.exec(line)?.groups ?? {};
		const ends = `${local} ${remote}`.replaceAll(mappedPrefix, '');
		if (uid !== undefined && wanted.has(ends)) {
			owners.set(ends, uid);
		}
	};

	for (const file of tableFiles) {
		let table = '';
		try {
			table = read(file);
		} catch {
			// The second table does not exist if the kernel has no IPv6.
		}

		if (wanted.size > mostSearched) {
			for (const line of table.split('\n')) {
				add(line);
			}

			continue;
		}

		for (const ends of wanted) {
			const [local, remote] = ends.split(' ', 2);
			for (const text of [`: ${ends} `, `: ${mappedPrefix}${local} ${mappedPrefix}${remote} `]) {
				const at = table.indexOf(text);
				if (at !== -1) {
					add(table.slice(table.lastIndexOf('\n', at) + 1, table.indexOf('\n', at)));
				}
			}
		}
	}

	return owners;
}

/** Returns the /64 network of an IPv6 address, because one machine can use all addresses of its network. */
const networkOf = (address: string): string =>
	address.includes(':') ? `${partsOf(address).slice(0, 4).join(':')}::/64` : address;

const readText = (file: string): string => readFileSync(file, 'utf8');

/** Returns the caller of each connection, in the same order: the account if the caller is on this machine, otherwise the address. */
export function callersOf(connections: readonly Connection[], read = readText): readonly string[] {
	const named = connections.map(({remoteAddress, remotePort = 0, localAddress, localPort = 0}) => {
		const remote = plainAddress(remoteAddress ?? '');
		const local = plainAddress(localAddress ?? '');
		const isLocal = remote !== '' && isOfThisMachine(remote, local);
		return {remote, ends: isLocal ? `${endHex(remote, remotePort)} ${endHex(local, localPort)}` : undefined};
	});
	const wanted = new Set(named.map(({ends}) => ends).filter((ends) => ends !== undefined));
	const owners = wanted.size === 0 ? new Map<string, string>() : socketOwners(wanted, read);
	return named.map(({remote, ends}) => {
		if (ends === undefined) {
			return networkOf(remote);
		}

		const uid = owners.get(ends);
		return uid === undefined ? remote : `uid ${uid}`;
	});
}

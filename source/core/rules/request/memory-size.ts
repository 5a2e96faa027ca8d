import {CanhazgpuError, quoted} from '../../../errors.js';

const bytesOf: Readonly<Record<string, number>> = {
	m: 1e6,
	mb: 1e6,
	mi: 2 ** 20,
	mib: 2 ** 20,
	g: 1e9,
	gb: 1e9,
	gi: 2 ** 30,
	gib: 2 ** 30,
	t: 1e12,
	tb: 1e12,
	ti: 2 ** 40,
	tib: 2 ** 40,
};

const mebibyte = 2 ** 20;

/** Returns whole MiB, rounded down. Undefined for an invalid size or less than 1 MiB. `bytesIn` returns the bytes of a unit. */
function parseMiB(text: string, bytesIn: (unit: string) => number | undefined): number | undefined {
	const {amount = '', unit = ''} =
		/^(?<amount>\d{1,9}(?:\.\d{1,3})?)\s*(?<unit>[a-z]{1,3})$/v.exec(text.trim().toLowerCase())?.groups ?? {};
	const bytes = bytesIn(unit);
	const mebibytes = bytes === undefined ? 0 : Math.floor((Number(amount) * bytes) / mebibyte);
	return mebibytes >= 1 ? mebibytes : undefined;
}

/** Parses a GPU size into whole MiB, rounded down. G is 10^9 bytes, so that `80G` fits an 80 GB GPU. Undefined if invalid or under 1 MiB. */
export const parseMemoryMiB = (text: string): number | undefined => parseMiB(text, (unit) => bytesOf[unit]);

/** Formats a size, rounded, so that {@link parseMemoryMiB} can read it: `40G` stands for 40,000,000,000 bytes. */
export function memoryText(mebibytes: number): string {
	const gigabytes = (mebibytes * mebibyte) / 1e9;
	// A request of 1G is stored as 953 MiB, which is slightly less than 1 GB but must be shown as 1G.
	return gigabytes < 0.998
		? `${Math.ceil((mebibytes * mebibyte) / 1e6)}M`
		: `${Number(gigabytes.toFixed(gigabytes < 100 ? 1 : 0))}G`;
}

/** Parses the memory that a program uses. Works like {@link parseMemoryMiB}, but `8G` is 8 GiB, because tools and libraries count this way. */
export const parseShareMiB = (text: string): number | undefined =>
	parseMiB(text, (unit) => (Object.hasOwn(bytesOf, unit) ? bytesOf[`${unit[0]!}i`] : undefined));

/** Parses the typed size of a share. `name` is the flag or field. Throws `usage` for an invalid size. */
export function shareMiBOf(typed: string, name: string): number {
	const shareMiB = parseShareMiB(typed);
	if (shareMiB !== undefined) {
		return shareMiB;
	}

	const isBare = /^\d+(?:\.\d+)?$/v.test(typed) && Number(typed) > 0;
	throw new CanhazgpuError('usage', `${name}: ${quoted(typed)} ${isBare ? 'has no unit' : 'is not a memory size'}`, {
		hint: isBare ? `Did you mean ${typed}G?` : 'Write a number and a unit, 1M or more: 8G, 512M or 8GiB.',
	});
}

/** Formats a size so that {@link parseShareMiB} can read it: `8G` stands for 8,192 MiB. */
export const sizeText = (mebibytes: number): string =>
	mebibytes < 1024
		? `${Math.round(mebibytes)}M`
		: `${Number((mebibytes / 1024).toFixed(mebibytes < 102_400 ? 1 : 0))}G`;

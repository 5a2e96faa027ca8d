/** Sizes of memory as people write them. */

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

/**
Reads `40G`, `512M` or `40GiB`. G is a thousand million bytes, as in the name of a GPU: an `80GB` one tells 79.6 GiB, a `48GB` one 45 GiB.

@returns Whole MiB, rounded down. Undefined for what is no size, has no unit, or is less than 1 MiB.
*/
export function parseMemoryMiB(text: string): number | undefined {
	const {amount = '', unit = ''} =
		/^(?<amount>\d{1,9}(?:\.\d{1,3})?)\s*(?<unit>[a-z]{1,3})$/v.exec(text.trim().toLowerCase())?.groups ?? {};
	const bytes = bytesOf[unit];
	const mebibytes = bytes === undefined ? 0 : Math.floor((Number(amount) * bytes) / mebibyte);
	return mebibytes >= 1 ? mebibytes : undefined;
}

/** Memory in the unit in which it is asked for: `40G` are 40,000,000,000 bytes, give or take a MiB. */
export function memoryWords(mebibytes: number): string {
	const gigabytes = (mebibytes * mebibyte) / 1e9;
	// What was asked for as 1G is a whole number of MiB, and so a little less.
	return gigabytes < 0.998
		? `${Math.ceil((mebibytes * mebibyte) / 1e6)}M`
		: `${Number(gigabytes.toFixed(gigabytes < 100 ? 1 : 0))}G`;
}

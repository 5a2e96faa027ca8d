/** Parses MIG profiles. `1g.10gb` means one GPU slice and 10 GB. `1c.3g.20gb` is one compute slice of a `3g.20gb` instance. `+me` is an attribute. */

type Profile = {
	readonly computeSlices: number;
	readonly gpuSlices: number;
	readonly gigabytes: number;
	readonly attributes: readonly string[];
};

const pattern =
	/^(?:(?<compute>\d{1,2})c\.)?(?<gpu>\d{1,2})g\.(?<memory>\d{1,4})gb(?<attributes>(?:[+\-][a-z]{1,10}(?:\.[a-z]{1,10})?)*)$/v;

function parse(text: string): Profile | undefined {
	const {compute, gpu, memory, attributes = ''} = pattern.exec(text.trim().toLowerCase())?.groups ?? {};
	return gpu === undefined
		? undefined
		: {
				computeSlices: Number(compute ?? gpu),
				gpuSlices: Number(gpu),
				gigabytes: Number(memory),
				attributes: attributes.match(/[+\-][^+\-]+/gv) ?? [],
			};
}

/** Returns the profile in lower case, or undefined if the text is no profile. */
export const parseProfile = (text: string): string | undefined =>
	parse(text) === undefined ? undefined : text.trim().toLowerCase();

/** Whether an instance of profile `has` is at least as large as the wanted profile. An invalid profile only matches itself. */
export function fitsProfile(has: string, wanted: string): boolean {
	const [one, other] = [parse(has), parse(wanted)];
	return one === undefined || other === undefined
		? has.toLowerCase() === wanted.toLowerCase()
		: one.computeSlices >= other.computeSlices &&
				one.gpuSlices >= other.gpuSlices &&
				one.gigabytes >= other.gigabytes &&
				other.attributes.every((attribute) => one.attributes.includes(attribute));
}

/** Returns the sort keys of a profile. Small profiles come first, and unknown profiles come last. */
export function sizeOfProfile(profile: string | undefined): readonly number[] {
	const parsed = profile === undefined ? undefined : parse(profile);
	return parsed === undefined
		? [Infinity, Infinity, Infinity, Infinity]
		: [parsed.gpuSlices, parsed.computeSlices, parsed.gigabytes, parsed.attributes.length];
}

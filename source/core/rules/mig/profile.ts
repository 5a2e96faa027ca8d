/**
Profiles of MIG, such as `1g.10gb`: how many slices of the GPU's processors an instance has, and how much memory. `1c.3g.20gb` is a compute
instance with one of the three slices of its GPU instance; `+me` names what an instance has besides.
*/

type Profile = {
	readonly computeSlices: number;
	readonly gpuSlices: number;
	readonly gigabytes: number;
	/** Attributes, such as `+me`. */
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

/** Reads what people type: the profile in lower case. Undefined for what is no profile. */
export const parseProfile = (text: string): string | undefined =>
	parse(text) === undefined ? undefined : text.trim().toLowerCase();

/** Whether an instance of one profile has all that another one has. Of a profile that makes no sense, only the same will do. */
export function fitsProfile(has: string, wanted: string): boolean {
	const [one, other] = [parse(has), parse(wanted)];
	return one === undefined || other === undefined
		? has.toLowerCase() === wanted.toLowerCase()
		: one.computeSlices >= other.computeSlices &&
				one.gpuSlices >= other.gpuSlices &&
				one.gigabytes >= other.gigabytes &&
				other.attributes.every((attribute) => one.attributes.includes(attribute));
}

/** Numbers by which the smallest profile comes first, the first number first. What is unknown comes last. */
export function sizeOfProfile(profile: string | undefined): readonly number[] {
	const parsed = profile === undefined ? undefined : parse(profile);
	return parsed === undefined
		? [Infinity, Infinity, Infinity, Infinity]
		: [parsed.gpuSlices, parsed.computeSlices, parsed.gigabytes, parsed.attributes.length];
}

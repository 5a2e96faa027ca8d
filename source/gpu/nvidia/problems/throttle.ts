/** Reasons for reduced clocks, as bits (nvml.h, `nvmlClocksEventReason...`). Bit 0 is idleness, which does not slow down work. */
const reasonWords = [
	[0x2, 'application clocks'],
	[0x4, 'power cap'],
	[0x8, 'hardware slowdown'],
	[0x10, 'sync boost'],
	[0x20, 'software thermal slowdown'],
	[0x40, 'hardware thermal slowdown'],
	[0x80, 'power brake'],
	[0x1_00, 'display clocks'],
] as const;

const hardwareThermalSlowdown = 0x40;

/** Reads the bits: `0x0000000000000044` becomes 68. Undefined for anything else. */
export const readReasonBits = (text: string): number | undefined =>
	/^0x0*[\da-f]{1,8}$/iv.test(text) ? Number(text) : undefined;

export const throttleWords = (bits: number): readonly string[] =>
	reasonWords.filter(([bit]) => hasBit(bits, bit)).map(([, words]) => words);

export const isBrakingForHeat = (bits: number): boolean => hasBit(bits, hardwareThermalSlowdown);

const hasBit = (bits: number, bit: number): boolean => Math.floor(bits / bit) % 2 === 1;

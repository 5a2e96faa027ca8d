import {secondsOf, shortestHoldSeconds} from '../leases/durations.js';

export type PolicyKey<Value> = {
	/** Allowed values, in words that follow `must be`. */
	readonly expects: string;
	/** The default, in the spelling that users type. */
	readonly fallback: string;
	/** The value while the policy cannot be read. For keys that protect users from each other, this is the strictest value. */
	readonly inDoubt: {
		readonly value: Value;
		readonly words: string;
	};
	readonly summary: string;
	readonly completes: readonly string[];
	readonly read: (text: string) => Value | undefined;
	/** Checks a valid value against this pool. Throws `impossible`. */
	readonly check?: (value: Value, gpuCount: number) => void;
};

export const choice = <const Choice extends string>(
	choices: readonly Choice[],
	key: Pick<PolicyKey<NoInfer<Choice>>, 'inDoubt' | 'summary'> & {readonly fallback: NoInfer<Choice>},
): PolicyKey<Choice> => ({
	...key,
	expects: choices.length > 2 ? `one of ${choices.join(', ')}` : choices.join(' or '),
	completes: choices,
	read: (text) => choices.find((each) => each === text),
});

/** Defines a key whose value is a duration from `least` to `most`. Both limits are texts such as `10m`, like the value. */
export const duration = <const Other extends string = never>({
	least,
	most,
	other,
	...key
}: Pick<PolicyKey<number | Other>, 'fallback' | 'inDoubt' | 'summary' | 'completes'> & {
	readonly least: string;
	readonly most: string;
	/** A word that is accepted in place of a duration. */
	readonly other?: NoInfer<Other>;
}): PolicyKey<number | Other> => ({
	...key,
	expects: `${other === undefined ? '' : `${other}, or `}a duration from ${least} to ${most}`,
	read(text) {
		if (text === other) {
			return other;
		}

		const seconds = secondsOf(text);
		return seconds !== undefined && seconds >= secondsOf(least)! && seconds <= secondsOf(most)! ? seconds : undefined;
	},
});

/** Reads a duration for which a GPU can be held, in seconds. Undefined for an invalid text or a duration that is too short. */
export function readHoldSeconds(text: string): number | undefined {
	const seconds = secondsOf(text);
	return seconds !== undefined && seconds >= shortestHoldSeconds ? seconds : undefined;
}

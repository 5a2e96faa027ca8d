/** Names of the environment that hold secrets: those of the settings that config/schema.ts calls so. */
const secrets = ['CANHAZGPU_REDIS_PASSWORD', 'CANHAZGPU_NOTIFY_COMMAND', 'CANHAZGPU_NOTIFY_WEBHOOK'] as const;
const address = 'CANHAZGPU_REDIS_URL';

/** The environment for whatever is started: a job, a tool, ssh. None of them is trusted with the password of the store, nor with where notices go. */
export const withoutSecrets = <Value extends string | undefined>(
	environment: Readonly<Record<string, Value>>,
): Record<string, Value> => {
	// Copied as a whole: entry by entry took a millisecond of each start.
	const rest = {...environment};
	// `redis://user:password@host`: an address without that tells nothing that is secret.
	const hasPassword = rest[address]?.includes('@') === true;
	for (const name of hasPassword ? [...secrets, address] : secrets) {
		Reflect.deleteProperty(rest, name);
	}

	return rest;
};

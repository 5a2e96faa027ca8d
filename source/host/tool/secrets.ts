/** The environment variables of the settings that config/schema.ts marks as secret. */
const secrets = [
	'CANHAZGPU_REDIS_PASSWORD',
	'CANHAZGPU_NOTIFY_TO',
	'CANHAZGPU_NOTIFY_COMMAND',
	'CANHAZGPU_NOTIFY_WEBHOOK',
] as const;
const address = 'CANHAZGPU_REDIS_URL';

/** Returns the environment for every child process, such as a job, a tool or ssh, without the store's password and notification targets. */
export const withoutSecrets = <Value extends string | undefined>(
	environment: Readonly<Record<string, Value>>,
): Record<string, Value> => {
	// Copied as a whole, because copying entry by entry added a millisecond to each start.
	const rest = {...environment};
	// `redis://user:password@host`. Without a password, the address is not secret.
	const hasPassword = rest[address]?.includes('@') === true;
	for (const name of hasPassword ? [...secrets, address] : secrets) {
		Reflect.deleteProperty(rest, name);
	}

	return rest;
};

/** Names of the environment that may hold a password. */
const password = 'CANHAZGPU_REDIS_PASSWORD';
const address = 'CANHAZGPU_REDIS_URL';

/** `redis://user:password@host`. An address without it tells nothing that is secret. */
const holdsSecret = (name: string, value: string | undefined): boolean =>
	name === password || (name === address && value?.includes('@') === true);

/** The environment for whatever is started: a job, a tool, ssh. None of them is trusted with the password of the store. */
export const withoutSecrets = <Value extends string | undefined>(
	environment: Readonly<Record<string, Value>>,
): Record<string, Value> =>
	Object.fromEntries(Object.entries(environment).filter(([name, value]) => !holdsSecret(name, value)));

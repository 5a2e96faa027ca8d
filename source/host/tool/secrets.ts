/** Names of the environment that hold secrets: those of the settings that config/schema.ts calls so. */
const secrets: ReadonlySet<string> = new Set([
	'CANHAZGPU_REDIS_PASSWORD',
	'CANHAZGPU_NOTIFY_COMMAND',
	'CANHAZGPU_NOTIFY_WEBHOOK',
]);
const address = 'CANHAZGPU_REDIS_URL';

/** `redis://user:password@host`. An address without it tells nothing that is secret. */
const holdsSecret = (name: string, value: string | undefined): boolean =>
	secrets.has(name) || (name === address && value?.includes('@') === true);

/** The environment for whatever is started: a job, a tool, ssh. None of them is trusted with the password of the store, nor with where notices go. */
export const withoutSecrets = <Value extends string | undefined>(
	environment: Readonly<Record<string, Value>>,
): Record<string, Value> =>
	Object.fromEntries(Object.entries(environment).filter(([name, value]) => !holdsSecret(name, value)));

import {existsSync} from 'node:fs';
import process from 'node:process';
import type {World} from '../core/model/ports.js';
import {chooseStore, type StoreFacts} from '../core/operations/pool/choose-store.js';
import type {Engine} from '../core/operations/engine.js';
import {CanhazgpuError, hasCode} from '../errors.js';
import {refusesConnections} from '../host/connections.js';
import type {OpenWorld} from './contract.js';
import {credentials} from './open-stores.js';
import type {Context} from './stores.js';

/** The default configuration files of Slurm. Debian used the second path until Debian 11. */
const slurmFiles = ['/etc/slurm/slurm.conf', '/etc/slurm-llnl/slurm.conf'];

const isSlurmHere = (): boolean =>
	(process.env['SLURM_CONF'] ?? '') !== '' || slurmFiles.some((file) => existsSync(file));

/** Whether Redis is neither configured nor listening. This check is faster than loading the Redis client. */
async function isRedisAbsent({config, locations}: Context, {isRedisGiven, recorded}: StoreFacts): Promise<boolean> {
	const {host, port} = locations.redisRecord();
	return (
		!isRedisGiven &&
		recorded === undefined &&
		credentials.every((setting) => !config.isGiven(setting)) &&
		(await refusesConnections(host, port))
	);
}

/** Whether this machine has a pool. A pool that does not answer counts, too. */
async function hasPool(context: Context): Promise<boolean> {
	const facts = context.locations.facts();
	if (await isRedisAbsent(context, facts)) {
		const {kind} = await chooseStore(facts, async () => 'no-answer');
		return kind !== 'none';
	}

	try {
		const {openStore} = await import('./stores.js');
		const {store} = await openStore(context, {}, async () => ({provider: undefined, reason: ''}));
		await store.close();
		return true;
	} catch (error) {
		return !hasCode(error, 'no-pool');
	}
}

type Cluster = Pick<World, 'store' | 'gpus'> & {readonly engine: Engine};

/** Returns the Slurm cluster if the configuration names Slurm, or if Slurm is installed and this machine has no pool. */
export async function findSlurm(context: Context): Promise<Cluster | undefined> {
	const {config, clock} = context;
	const asked = config.get('engine');
	const isFound = asked === undefined && config.get('store') === undefined && isSlurmHere();
	if (asked !== 'slurm' && (!isFound || (await hasPool(context)))) {
		return undefined;
	}

	const {openSlurm} = await import('../engine/slurm/index.js');
	return openSlurm(clock, config.get('slurm.shard-memory'));
}

export const foreignWorld = (
	cluster: Cluster,
	own: Pick<World, 'host' | 'clock' | 'memoryThresholdMiB'>,
): OpenWorld => ({
	...own,
	...cluster,
	watchGpus: async () => cluster.gpus,
	async findDeviceHolders() {
		return {devices: [], holders: [], unreadable: {count: 0, users: []}};
	},
	async prepareIsolation() {
		throw new CanhazgpuError('usage', 'Slurm itself isolates the jobs on its nodes', {
			hint: 'Leave out --isolate. See ConstrainDevices in cgroup.conf.',
		});
	},
	async prepareNumaBinding() {
		throw new CanhazgpuError('usage', 'Slurm itself binds the jobs on its nodes', {
			hint: 'Leave out --numa. See TaskPlugin in slurm.conf.',
		});
	},
	close: async () => cluster.store.close(),
});

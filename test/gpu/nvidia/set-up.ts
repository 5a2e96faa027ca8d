import path from 'node:path';
import {performance} from 'node:perf_hooks';
import {createNvidiaProvider} from '../../../source/gpu/nvidia/nvidia.js';
import {createProcessDescriber} from '../../../source/host/process/details.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {createUsers} from '../../../source/host/accounts/users.js';
import {fixture} from '../fixture.js';
import {type Answer, createStub} from './stub-nvidia-smi.js';

export const monotonicMs = () => performance.now();
export const users = createUsers();
export const describeProcesses = createProcessDescriber({users, run: runTool});

export const good = {gpus: {stdout: fixture('gpus/two.csv')}, processes: {stdout: fixture('processes/none.csv')}};

export const setUp = async (answers: {gpus?: Answer; processes?: Answer} = good, timeoutMs = 5000) => {
	const stub = await createStub(answers);
	const gpusDirectory = path.join(stub.directory, 'no-driver');
	const options = {
		run: runTool,
		describeProcesses,
		monotonicMs,
		timeLimitMs: () => timeoutMs,
		command: stub.command,
		gpusDirectory,
	};
	return {stub, provider: createNvidiaProvider(options)};
};

export const observe = async (answers: {gpus?: Answer; processes?: Answer}, timeoutMs?: number) => {
	const {provider} = await setUp(answers, timeoutMs);
	return provider.observe();
};

import process from 'node:process';
import {cudaEnvironment, cudaWarning, requireCuda} from '../core/rules/cuda/cuda.js';
import {readSupportedCuda} from '../gpu/nvidia/supported-cuda.js';
import {findCuda, usualParents} from '../host/cuda.js';
import {exactEnvironment} from '../host/inherited/exact-text.js';
import {runTool} from '../host/tool/spawn.js';
import type {PreparedCuda} from './contract.js';

export async function prepareCuda(version: string): Promise<PreparedCuda> {
	const environment = exactEnvironment(process.env);
	const asked = readSupportedCuda(runTool);
	const search = findCuda({parents: usualParents, environment});
	const supported = await asked;
	const chosen = requireCuda(search, version, supported);
	return {environment: cudaEnvironment(chosen, environment), warning: cudaWarning(chosen, supported)};
}

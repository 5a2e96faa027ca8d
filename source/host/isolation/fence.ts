import path from 'node:path';
import type {IsolationProblem} from '../../core/model/isolation.js';
import {lookUpCommand} from '../tool/command.js';
import type {ProofNodes} from './witness.js';

export type FenceOptions = {
	readonly devices: string;
	readonly foreign: ReadonlyArray<{readonly file: string}>;
	/** Devices that a process inside the isolation tries to open before the job starts. */
	readonly proof: ProofNodes;
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly isRoot: boolean;
};

export type Fenced = {
	readonly kind: 'fenced';
	readonly entrance: readonly string[];
	/** Ends the isolation. Must be called when no more processes will be started inside. Never rejects. */
	readonly close: () => Promise<void>;
};

export type MakeFence = (options: FenceOptions) => Promise<Fenced | IsolationProblem>;

type Program = Extract<IsolationProblem, {kind: 'no-program'}>['program'];

export const findProgram = (program: Program, environment: FenceOptions['environment']): string | IsolationProblem => {
	const found = lookUpCommand(program, environment);
	return found.kind === 'found' ? path.resolve(found.file) : {kind: 'no-program', program};
};

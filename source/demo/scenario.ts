/** The scenario of `--demo`: a shared machine with long jobs, a forgotten notebook, a queue, use without a reservation and a broken GPU. */
import type {Scenario} from '../gpu/simulated/scenario.js';

const minute = 60;
const hour = 60 * minute;

export const demoScenario: Scenario = {
	gpus: 8,
	seed: 7,
	people: [
		{
			user: 'ada',
			ids: [0, 1],
			since: 72 * minute,
			note: 'eval 70B',
			command: 'vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 2',
		},
		{
			user: 'grace',
			ids: [2],
			kind: 'manual',
			since: 6.6 * hour,
			hold: 6.8 * hour,
			pause: hour,
			note: 'notebook',
			idle: 5.9 * hour,
			back: 45,
		},
		{
			user: 'alan',
			ids: [3],
			since: 4 * minute,
			hold: 6 * minute,
			pause: 40,
			limit: 6 * minute,
			note: 'run 12',
			command: 'python3 finetune.py --model Qwen/Qwen2.5-7B --epochs 3',
		},
		{
			user: 'katherine',
			gpus: 1,
			since: 35,
			hold: 75,
			pause: 25,
			limit: 2 * minute,
			command: 'python3 -m lm_eval --model_args pretrained=mistralai/Mistral-7B-v0.3',
		},
		{
			user: 'erin',
			ids: [2],
			kind: 'manual',
			hold: 20 * minute,
			pause: 10 * minute,
			waits: 22 * minute,
			note: 'my turn',
		},
		{
			user: 'frank',
			ids: [3],
			hold: 100,
			pause: 50,
			limit: 3 * minute,
			waits: 3 * minute,
			command: 'python3 sweep.py --trials 40',
		},
		{user: 'linus', gpus: 2, kind: 'manual', hold: 3 * minute, pause: 80},
		{user: 'barbara', gpus: 1, hold: 50, pause: 70, limit: minute, command: 'gmx mdrun -deffnm md'},
	],
	processes: [
		{gpu: 6, user: 'dave', command: 'jupyter-lab --no-browser', memory: 19_456, utilization: 41},
		{
			gpu: 6,
			user: 'dave',
			command: 'python3 plot.py',
			memory: 2200,
			utilization: 3,
			from: 30,
			until: 150,
			every: 4 * minute,
		},
		{
			gpu: 3,
			user: 'mallory',
			command: './miner --quiet',
			memory: 5120,
			utilization: 12,
			from: 50,
			until: 110,
			every: 5 * minute,
		},
	],
	mig: [{gpu: 5, profiles: ['3g.40gb', '2g.20gb', '1g.10gb']}],
	failures: [{gpu: 7, words: 'GPU has fallen off the bus'}],
};

/** Two people who share a GPU. One of them uses more memory than requested. */
const sharing: ReadonlyArray<NonNullable<Scenario['people']>[number]> = [
	{
		user: 'rosalind',
		ids: [9],
		share: 16 * 1024,
		since: 50 * minute,
		note: 'chat bot',
		command: 'python3 chat.py --model mistralai/Mistral-7B-Instruct-v0.3',
	},
	{
		user: 'emmy',
		ids: [9],
		share: 8 * 1024,
		kind: 'manual',
		since: 20 * minute,
		hold: 4 * hour,
		note: 'embeddings',
		command: 'python3 embed.py --all',
	},
];

/** A reservation of the user, who is warned after some seconds that it is idle. */
const idleOf = (account: string): NonNullable<Scenario['people']>[number] => ({
	user: account,
	ids: [10],
	kind: 'manual',
	since: 2 * hour,
	hold: 8 * hour,
	pause: 24 * hour,
	note: 'fine-tuning',
	idle: hour - 8,
});

/** Returns the scenario on a larger machine. The user has an idle reservation to keep, and a process without a reservation to adopt or kill. */
export const demoScenarioFor = (account: string): Scenario => ({
	...demoScenario,
	gpus: 12,
	policy: {share: 'on', 'idle.after': '1h', 'idle.when': 'always'},
	hardware: [
		{gpus: [0, 1, 2, 3], model: 'H100 80GB', compute: '9.0', numa: 0, root: 'pci0000:00'},
		{gpus: [4, 5, 6, 7], model: 'H100 80GB', compute: '9.0', numa: 1, root: 'pci0000:80'},
		{gpus: [8, 9, 10, 11], model: 'L40S 48GB', memory: 46_068, compute: '8.9', numa: 1, root: 'pci0000:c0'},
	],
	links: [{gpus: [0, 1, 2, 3, 4, 5, 6, 7], link: 'NV18'}],
	people: [...(demoScenario.people ?? []), ...sharing, idleOf(account)],
	processes: [
		...(demoScenario.processes ?? []),
		{gpu: 8, user: account, command: 'python3 train.py --quick', memory: 14_336, utilization: 66},
		{gpu: 9, user: 'emmy', command: 'python3 cache.py', memory: 5120, utilization: 4, from: 25},
	],
});

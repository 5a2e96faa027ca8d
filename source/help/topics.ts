/** The help topics, in the order of the help. The text of a topic loads only when it is shown. */

type Topic = {
	readonly summary: string;
	/** Words for which this topic is suggested. */
	readonly otherNames: readonly string[];
	readonly load: () => Promise<{readonly default: string}>;
};

export const topics: Readonly<Record<string, Topic>> = {
	setup: {
		summary: 'Install canhazgpu, create a pool, decide whom to trust, uninstall',
		otherNames: ['install', 'installation', 'uninstall', 'security', 'binary', 'acl'],
		load: async () => import('./setup.md'),
	},
	commands: {
		summary: 'What each command does, with examples for scripts and containers',
		otherNames: ['examples', 'usage', 'docker', 'scripts', 'exit-codes'],
		load: async () => import('./commands.md'),
	},
	jobs: {
		summary: 'Background jobs: submit, follow, cancel, arrays, dependencies',
		otherNames: ['detach', 'background', 'batch', 'array', 'logs', 'nohup', 'tmux', 'dependencies'],
		load: async () => import('./jobs.md'),
	},
	monitor: {
		summary: 'The monitor (top) and its keys',
		otherNames: ['keys', 'shortcuts', 'bindings', 'theme'],
		load: async () => import('./monitor.md'),
	},
	hosts: {
		summary: 'Use the GPUs of several machines, also from a laptop',
		otherNames: ['boxes', 'fleet', 'remote', 'ssh', 'laptop', 'remote_hosts', 'machines'],
		load: async () => import('./hosts.md'),
	},
	queue: {
		summary: 'Who gets which GPU: what is free, who is next, how reservations end',
		otherNames: ['order', 'rules', 'scheduler', 'scheduling', 'fairness', 'sharing', 'shares', 'mig', 'needs'],
		load: async () => import('./queue.md'),
	},
	policy: {
		summary: 'Rules that an administrator sets for everybody',
		otherNames: ['strategy', 'strategies', 'clean', 'dirty'],
		load: async () => import('./policy.md'),
	},
	reclaim: {
		summary: 'Idle reservations that go back to the pool, and how to keep them',
		otherNames: ['idle', 'keep', 'reaper', 'unused', 'warning'],
		load: async () => import('./reclaim.md'),
	},
	isolation: {
		summary: 'Jobs that can open only their own GPUs, and GPUs in containers',
		otherNames: [
			'isolate',
			'fence',
			'sandbox',
			'bubblewrap',
			'bwrap',
			'systemd-run',
			'cgroup',
			'cgroups',
			'container',
			'containers',
			'podman',
			'apptainer',
		],
		load: async () => import('./isolation.md'),
	},
	web: {
		summary: 'The dashboard in a browser, and its API',
		otherNames: ['api', 'browser', 'http'],
		load: async () => import('./web.md'),
	},
	agents: {
		summary: 'Coding agents (MCP) and CI jobs that reserve GPUs',
		otherNames: ['agent', 'ai', 'ci', 'claude', 'codex', 'cursor', 'gemini', 'mcp', 'tools', 'vscode'],
		load: async () => import('./agents.md'),
	},
	json: {
		summary: 'What --json prints: names, units, and a schema for each command',
		otherNames: ['schema', 'schemas', 'scripting', 'jq'],
		load: async () => import('./json.md'),
	},
	metrics: {
		summary: 'Metrics for Prometheus, with example alerts',
		otherNames: ['prometheus', 'grafana', 'monitoring', 'alerts', 'healthz'],
		load: async () => import('./metrics.md'),
	},
	configuration: {
		summary: 'Config files, environment variables, all settings, simulated GPUs',
		otherNames: ['config', 'settings', 'environment', 'env', 'yaml', 'redis', 'scenario', 'simulated'],
		load: async () => import('./configuration.md'),
	},
	notifications: {
		summary: 'Be notified by mail, on the desktop, in Slack, Discord or ntfy',
		otherNames: ['reminders', 'notices', 'slack', 'discord', 'ntfy', 'mail', 'desktop', 'webhook', 'quiet'],
		load: async () => import('./notifications.md'),
	},
	slurm: {
		summary: 'A front end for Slurm, and commands for those who know Slurm',
		otherNames: ['cluster', 'engine', 'srun', 'partitions'],
		load: async () => import('./slurm.md'),
	},
	go: {
		summary: 'What is different from the Go program of the same name',
		otherNames: ['golang', 'migrate', 'migration', 'peer'],
		load: async () => import('./go.md'),
	},
	troubleshooting: {
		summary: 'What happens when something fails, and how to fix it',
		otherNames: ['trouble', 'problems', 'errors', 'faq', 'failures', 'recovery', 'nvidia', 'amd', 'ecc', 'xid'],
		load: async () => import('./troubleshooting.md'),
	},
	changes: {
		summary: 'What is new in each version',
		otherNames: ['changelog', 'news', 'release-notes', 'versions'],
		load: async () => import('./changes.md'),
	},
};

export const topicNames: readonly string[] = Object.keys(topics);

/** Returns a topic by its name or its former name. */
export function findTopic(name: string): Topic | undefined {
	const current = name === 'verbs' ? 'commands' : name;
	return Object.hasOwn(topics, current) ? topics[current] : undefined;
}

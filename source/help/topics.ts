/** The help topics, in the order of the help. The text of each loads only when it is shown. */

type Topic = {
	/** What it tells, in a few words. */
	readonly summary: string;
	/** Other words that people type for it. */
	readonly otherNames: readonly string[];
	/** Its Markdown. */
	readonly load: () => Promise<{readonly default: string}>;
};

export const topics: Readonly<Record<string, Topic>> = {
	setup: {
		summary: 'A shared box: install, make the pool, whom to trust, remove',
		otherNames: ['install', 'installation', 'uninstall', 'security', 'binary', 'acl'],
		load: async () => import('./setup.md'),
	},
	verbs: {
		summary: 'What each verb does, with examples for scripts and containers',
		otherNames: ['commands', 'examples', 'usage', 'jobs', 'docker', 'scripts', 'exit-codes'],
		load: async () => import('./verbs.md'),
	},
	monitor: {
		summary: 'The monitor (top) and its keys',
		otherNames: ['keys', 'shortcuts', 'bindings', 'theme'],
		load: async () => import('./monitor.md'),
	},
	hosts: {
		summary: 'Several boxes: one, five, fifty; from a laptop; of several versions',
		otherNames: ['boxes', 'fleet', 'remote', 'ssh', 'laptop', 'remote_hosts', 'machines'],
		load: async () => import('./hosts.md'),
	},
	queue: {
		summary: 'Who gets which GPU: what is free, who is next, how reservations end',
		otherNames: ['order', 'rules', 'scheduler', 'scheduling', 'fairness', 'sharing', 'shares', 'mig', 'needs'],
		load: async () => import('./queue.md'),
	},
	policy: {
		summary: 'What an administrator sets for everybody',
		otherNames: ['strategy', 'strategies', 'clean', 'dirty'],
		load: async () => import('./policy.md'),
	},
	isolation: {
		summary: 'Jobs that can open no GPU but their own; GPUs in containers',
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
	json: {
		summary: 'What --json prints: names, units, and a schema of each verb',
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
		otherNames: ['config', 'settings', 'environment', 'env', 'yaml', 'redis', 'scenario', 'simulated', 'notify'],
		load: async () => import('./configuration.md'),
	},
	slurm: {
		summary: 'In front of Slurm, and for people who know it',
		otherNames: ['cluster', 'engine', 'srun', 'partitions'],
		load: async () => import('./slurm.md'),
	},
	go: {
		summary: 'For people who know the Go program of the same name',
		otherNames: ['golang', 'migrate', 'migration', 'peer'],
		load: async () => import('./go.md'),
	},
	troubleshooting: {
		summary: 'What happens when something dies, and how to fix what is wrong',
		otherNames: ['trouble', 'problems', 'errors', 'faq', 'failures', 'recovery', 'nvidia', 'amd', 'ecc', 'xid'],
		load: async () => import('./troubleshooting.md'),
	},
	changes: {
		summary: 'What each version brings',
		otherNames: ['changelog', 'news', 'release-notes', 'versions'],
		load: async () => import('./changes.md'),
	},
};

export const topicNames: readonly string[] = Object.keys(topics);

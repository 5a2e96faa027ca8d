/*
The table of rooms in contributing.md, as rules. A folder may import everything that its rule does not forbid.
*/
const source = (folders) => `^source/(${folders})`;

/**
Forbids the files at `from` to import anything in source/ except `allowed`.
@param name
@param from
@param allowed
*/
const only = (name, from, allowed) => ({
	name,
	severity: 'error',
	from: {path: from},
	to: {path: '^source/', pathNot: `^source/(${allowed})`},
});

module.exports = {
	forbidden: [
		{name: 'no-circles', severity: 'error', from: {}, to: {circular: true}},
		{
			// Two rooms must not import each other. Exceptions: the command line and its list of commands, the parts of the monitor's state, and the monitor's commands
			// with the keys and dialogs that list them.
			name: 'no-circles-of-rooms',
			scope: 'folder',
			severity: 'error',
			from: {path: '^source/(core|store|gpu|host|engine|format|config|app|demo|security|help|web|mcp|commands/|tui/(?!state|commands|keys|dialogs)[^/]+)'},
			to: {circular: true},
		},
		// bun:* modules exist only in Bun, and cannot be resolved here.
		{
			name: 'no-unresolved',
			severity: 'error',
			from: {},
			to: {couldNotResolve: true, pathNot: String.raw`\.lua$|^bun:ffi$`},
		},
		only('model-is-the-ground', '^source/core/model/', String.raw`core/model/|errors\.ts`),
		only('rules-are-pure', '^source/core/rules/', String.raw`core/(model|rules)/|errors\.ts`),
		only(
			'operations-read-plan-and-commit',
			'^source/core/operations/',
			String.raw`core/(model|rules|operations)/|errors\.ts`,
		),
		only('live-is-for-every-face', '^source/core/live/', String.raw`core/|errors\.ts`),
		{
			name: 'core-does-no-io',
			severity: 'error',
			from: {path: '^source/core/'},
			to: {dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional']},
		},
		only('format-knows-the-core', '^source/format/', String.raw`format/|core/|errors\.ts`),
		only('store-stands-alone', '^source/store/', String.raw`store/|core/model/|errors\.ts|security/`),
		only('gpu-stands-alone', '^source/gpu/', String.raw`gpu/|core/model/|errors\.ts`),
		only('host-stands-alone', '^source/host/', String.raw`host/|core/model/|errors\.ts|security/`),
		only(
			'engine-speaks-its-own-commands',
			'^source/engine/',
			String.raw`engine/|core/|errors\.ts|host/tool/(spawn|secrets)\.ts`,
		),
		only('tui-uses-the-core', '^source/tui/', String.raw`tui/|core/|format/|errors\.ts`),
		only(
			'widgets-know-no-state',
			'^source/tui/widgets/',
			String.raw`tui/(widgets|themes)/|tui/theme\.ts|tui/state/text-field\.ts|format/|core/model/|errors\.ts`,
		),
		only(
			'state-knows-no-screen',
			'^source/tui/state/',
			String.raw`tui/(state|layout|ports|theme)|core/|format/|errors\.ts`,
		),
		{
			name: 'state-and-keys-know-no-ink',
			severity: 'error',
			// use-monitor.tsx connects the state and the keys to the components.
			from: {path: '^source/tui/(state|keys)/', pathNot: String.raw`/use-monitor\.tsx$`},
			to: {path: '^(react|ink)$|node_modules/(react|ink)/'},
		},
		{
			name: 'keys-draw-nothing',
			severity: 'error',
			from: {path: '^source/tui/keys/'},
			to: {path: '^source/tui/(panels|dialogs|screens|live|widgets)/'},
		},
		{
			// Only the table of keys imports the commands. Code that names and parses keys must not.
			name: 'keys-know-no-verb',
			severity: 'error',
			from: {path: '^source/tui/keys/', pathNot: String.raw`/bindings\.ts$`},
			to: {path: '^source/tui/commands/'},
		},
		{
			name: 'panels-ask-no-verb-and-no-screen',
			severity: 'error',
			from: {path: '^source/tui/panels/', pathNot: String.raw`^source/tui/panels/footer\.tsx`},
			to: {path: '^source/tui/(commands|screens|live)/'},
		},
		{
			name: 'panels-know-no-other-panel',
			severity: 'error',
			from: {
				path: '^source/tui/panels/([^/]+)',
			},
			to: {path: '^source/tui/panels/', pathNot: String.raw`^source/tui/panels/(shared/|$1)`},
		},
		{
			name: 'commands-draw-no-panel',
			severity: 'error',
			from: {path: '^source/tui/commands/'},
			to: {path: '^source/tui/(panels|screens|live)/'},
		},
		{
			// Commands for other hosts build on the command for this host. Commands may share code that reserves GPUs, changes reservations, or finds processes.
			name: 'commands-know-no-other-command',
			severity: 'error',
			from: {
				path: '^source/tui/commands/',
				pathNot: String.raw`^source/tui/commands/(index|dispatch)\.ts|^source/tui/commands/hosts/`,
			},
			to: {path: '^source/tui/commands/', pathNot: String.raw`^source/tui/commands/(reserve|reservations|processes)/|^source/tui/commands/(command|command-line|reasons|settings)\.ts`},
		},
		only('web-uses-the-core', '^source/web/', String.raw`web/|core/|format/|help/|errors\.ts`),
		only('mcp-uses-the-core', '^source/mcp/', String.raw`mcp/|core/|format/|help/|errors\.ts`),
		only('help-is-text', '^source/help/', 'help/'),
		only(
			'page-shows-the-api',
			'^source/web/page/',
			String.raw`web/(page|api)/|core/model/|format/(states|free-gpus|reservation-form|text/(shell|gpu-list))\.ts`,
		),
		{
			name: 'page-shares-types-alone',
			severity: 'error',
			from: {path: '^source/web/page/'},
			to: {path: '^source/(web/api|core)/', dependencyTypesNot: ['type-only']},
		},
		{
			name: 'page-runs-in-a-browser',
			severity: 'error',
			from: {path: '^source/web/page/'},
			to: {dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional'], pathNot: '^node_modules/(preact|uplot)/'},
		},
		only('config-stands-alone', '^source/config/', String.raw`config/|core/|errors\.ts|security/|format/`),
		only(
			'commands-do-not-choose-adapters',
			'^source/commands/',
			String.raw`commands/|command-line/|core/|format/|tui/|web/|mcp/|errors\.ts|config/|app/contract\.ts`,
		),
		only(
			'command-line-runs-nothing',
			'^source/command-line/',
			String.raw`command-line/|commands/index\.ts|help/|core/|format/|errors\.ts|config/|app/(contract|complete|start-up/.*|names)\.ts|app/contract\.ts`,
		),
		{
			name: 'faces-load-lazily',
			severity: 'error',
			from: {path: String.raw`^source/(commands/|command-line/|main\.ts|cli\.ts|app/|demo/)`},
			to: {path: source('tui|web|mcp'), dependencyTypesNot: ['dynamic-import', 'type-only']},
		},
		only(
			'app-composes',
			String.raw`^source/(app|demo)/`,
			String.raw`core/|store/|gpu/|host/|engine/|format/|config/|errors\.ts|security/|app/|demo/`,
		),
		only(
			'main-is-on-top',
			String.raw`^source/(cli|main)\.ts`,
			String.raw`command-line/|commands/|host/inherited/inherited\.ts|config/|errors\.ts|app/|main\.ts|format/|core/model/`,
		),
	],
	options: {
		doNotFollow: {path: 'node_modules'},
		tsConfig: {fileName: 'tsconfig.json'},
		tsPreCompilationDeps: 'specify',
		enhancedResolveOptions: {
			exportsFields: ['exports'],
			conditionNames: ['import', 'node', 'default'],
			extensions: ['.ts', '.tsx', '.js'],
		},
	},
};

/*
Who may import whom: the table of the layers, as rules. A folder may import what its rule does not forbid.
*/
const source = (folders) => `^source/(${folders})`;

/**
Forbids everything in source/ but `allowed` to the files at `from`.
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
		{
			name: 'no-cycles',
			severity: 'error',
			from: {},
			to: {circular: true, viaOnly: {dependencyTypesNot: ['type-only']}},
		},
		// The page names its files as the browser asks for them, and Bun brings modules of its own.
		{name: 'no-unresolved', severity: 'error', from: {}, to: {couldNotResolve: true, pathNot: String.raw`\.lua$|/vendor/uplot\.js$|^bun:ffi$`}},
		only('core-is-pure', '^source/core/', String.raw`core/|errors\.ts`),
		{
			name: 'core-does-no-io',
			severity: 'error',
			from: {path: '^source/core/'},
			to: {dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional']},
		},
		only('format-knows-core-types', '^source/format/', String.raw`format/|core/|errors\.ts`),
		only('store-stands-alone', '^source/store/', String.raw`store/|core/(types|ports|plan|observation|other-hosts)\.ts|errors\.ts|(safe-file|user-namespace)\.ts`),
		only('gpu-stands-alone', '^source/gpu/', String.raw`gpu/|core/(types|ports|observation)\.ts|errors\.ts`),
		only('host-stands-alone', '^source/host/', String.raw`host/|core/(types|ports|observation|other-hosts)\.ts|errors\.ts|user-namespace\.ts`),
		only('tui-uses-the-core', '^source/tui/', String.raw`tui/|feed/|core/|format/|errors\.ts`),
		only('web-uses-the-core', '^source/web/', String.raw`web/|feed/|core/|format/|errors\.ts`),
		only('feed-is-for-every-face', '^source/feed/', String.raw`feed/|core/|errors\.ts`),
		only(
			'commands-do-not-choose-adapters',
			'^source/commands/',
			String.raw`commands/|core/|format/|tui/|web/|errors\.ts|config|application\.ts`,
		),
		{
			name: 'faces-load-lazily',
			severity: 'error',
			from: {path: String.raw`^source/(commands/|main\.ts|cli\.ts|app)`},
			to: {path: source('tui|web'), dependencyTypesNot: ['dynamic-import', 'type-only']},
		},
		only(
			'app-composes',
			String.raw`^source/app`,
			String.raw`core/|store/|gpu/|host/|format/|config|errors\.ts|safe-file\.ts|app`,
		),
		only(
			'main-is-on-top',
			String.raw`^source/(cli|main|complete)\.ts`,
			String.raw`commands/|(compile-cache|debugger|host/inherited)\.ts|config|errors\.ts|app|main\.ts|complete\.ts|arguments|suggestions\.ts|help\.ts|format/|core/types\.ts`,
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

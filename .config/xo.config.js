/**
@type {import('xo').FlatXoConfig}
*/
const config = [
	{ignores: ['dist/**', 'coverage/**', 'media/**', 'package.json', '.config/**', '**/*.md']},
	{
		prettier: true,
		rules: {
			// dependency-cruiser checks layers and cycles, in the whole import graph.
			'import-x/no-cycle': 'off',
			// `undefined` means an unknown reading, and is written explicitly.
			'unicorn/no-useless-undefined': 'off',
			'unicorn/no-null': 'off',
			// A default case covers the kinds that a switch does not list.
			'@typescript-eslint/switch-exhaustiveness-check': ['error', {considerDefaultExhaustiveForUnions: true}],
			// Loops wait for each step before the next one on purpose.
			'no-await-in-loop': 'off',
			// A doc comment says what the signature does not. It does not have to describe every parameter.
			'jsdoc/require-description': 'off',
			'jsdoc/require-param': 'off',
			'jsdoc/require-param-description': 'off',
			'jsdoc/check-param-names': 'off',
			'jsdoc/require-returns': 'off',
			'jsdoc/require-yields': 'off',
			'jsdoc/multiline-blocks': 'off',
			'unicorn/single-line-block-comment-style': 'off',
			// Allows verbs such as `owns`, and names of flags that users type, such as `force`.
			'unicorn/consistent-boolean-name': 'off',
			'unicorn/no-declarations-before-early-exit': 'off',
			'@stylistic/no-mixed-operators': 'off',
			'unicorn/max-nested-calls': 'off',
			'unicorn/consistent-class-member-order': 'off',
			'unicorn/no-await-expression-member': 'off',
			'unicorn/prefer-simple-condition-first': 'off',
			'unicorn/prefer-minimal-ternary': 'off',
			// Stored and printed keys have the names that the peer gave them.
			'@typescript-eslint/naming-convention': 'off',
		},
	},
	{
		files: ['source/core/**'],
		rules: {
			'no-restricted-globals': [
				'error',
				...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
					name,
					message: 'The core waits by the clock of its world.',
				})),
			],
		},
	},
	{
		files: ['source/core/rules/**', 'source/core/model/**'],
		rules: {
			// The rules must depend only on their arguments: the snapshot, the request and the time.
			'no-restricted-globals': [
				'error',
				...[
					'setTimeout',
					'setInterval',
					'setImmediate',
					'queueMicrotask',
					'performance',
					'crypto',
					'process',
					'fetch',
				].map((name) => ({name, message: 'A rule is pure: it is given what it needs.'})),
			],
			'no-restricted-properties': [
				'error',
				{object: 'Date', property: 'now', message: 'A rule is given the time.'},
				{object: 'Math', property: 'random', message: 'A rule knows no chance.'},
			],
			'no-restricted-syntax': [
				'error',
				{selector: ':function[async=true]', message: 'A rule waits for nothing.'},
				{selector: 'AwaitExpression', message: 'A rule waits for nothing.'},
				{selector: 'NewExpression[callee.name="Promise"]', message: 'A rule waits for nothing.'},
				{selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'A rule is given the time.'},
			],
		},
	},
	{
		files: ['source/tui/**'],
		rules: {
			// A component that a function creates needs a name, which React prints in its messages.
			'func-names': 'off',
			// The value of a React ref is null before mounting.
			'@typescript-eslint/no-restricted-types': 'off',
		},
	},
	{
		files: ['**/*.html'],
		rules: {
			// Nobody shares the dashboard of a machine on social networks.
			'@html-eslint/require-open-graph-protocol': 'off',
			// Browsers that do not support `blocking` ignore it.
			'@html-eslint/use-baseline': 'off',
		},
	},
	{
		files: ['test/**'],
		rules: {
			// The tests run with Vitest, not with node:test.
			'node-test/no-import-test-files': 'off',
			'unicorn/no-duplicate-loops': 'off',
			'unicorn/no-break-in-nested-loop': 'off',
			'@typescript-eslint/require-array-sort-compare': 'off',
			'max-params': 'off',
		},
	},
];

export default config;

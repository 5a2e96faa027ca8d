/**
@type {import('xo').FlatXoConfig}
*/
const config = [
	{ignores: ['dist/**', 'coverage/**', 'media/**', 'package.json', '.config/**', '**/*.md']},
	{
		prettier: true,
		rules: {
			// The layers and cycles are checked by dependency-cruiser, which knows the whole graph.
			'import-x/no-cycle': 'off',
			// `undefined` is the value of an unknown reading here, and is said aloud.
			'unicorn/no-useless-undefined': 'off',
			'unicorn/no-null': 'off',
			// A default covers the kinds that a switch does not name.
			'@typescript-eslint/switch-exhaustiveness-check': ['error', {considerDefaultExhaustiveForUnions: true}],
			// Loops here wait for each step before the next one.
			'no-await-in-loop': 'off',
			// A doc comment says what the signature does not; it need not repeat every parameter.
			'jsdoc/require-description': 'off',
			'jsdoc/require-param': 'off',
			'jsdoc/require-param-description': 'off',
			'jsdoc/check-param-names': 'off',
			'jsdoc/require-returns': 'off',
			'jsdoc/multiline-blocks': 'off',
			'unicorn/single-line-block-comment-style': 'off',
			// Verbs such as `owns` and `force` (a flag that users type) read better than `shouldForce`.
			'unicorn/consistent-boolean-name': 'off',
			'unicorn/no-declarations-before-early-exit': 'off',
			'@stylistic/no-mixed-operators': 'off',
			'unicorn/max-nested-calls': 'off',
			'unicorn/consistent-class-member-order': 'off',
			'unicorn/no-await-expression-member': 'off',
			'unicorn/prefer-simple-condition-first': 'off',
			'unicorn/prefer-minimal-ternary': 'off',
			// Stored and printed keys are the peer's.
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
			// Decisions depend only on the snapshot, the request and the given time.
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
			// A component that is made by a function needs a name for React's messages.
			'func-names': 'off',
			// A ref of React is null while nothing is mounted.
			'@typescript-eslint/no-restricted-types': 'off',
		},
	},
	{
		files: ['**/*.html'],
		rules: {
			// A dashboard of one machine is not shared on social networks.
			'@html-eslint/require-open-graph-protocol': 'off',
			// A browser that does not know `blocking` ignores it.
			'@html-eslint/use-baseline': 'off',
		},
	},
	{
		files: ['test/**'],
		rules: {
			// These tests run under Vitest.
			'node-test/no-import-test-files': 'off',
			'unicorn/no-duplicate-loops': 'off',
			'unicorn/no-break-in-nested-loop': 'off',
			'@typescript-eslint/require-array-sort-compare': 'off',
			'max-params': 'off',
		},
	},
];

export default config;

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
		},
	},
];

export default config;

/* A style that is loaded late stands for its name beside the script, which the bundler gives (.config/page.ts). */

declare module '*.css' {
	const name: string;
	export default name;
}

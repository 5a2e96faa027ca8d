/* A style that is loaded late stands for its address, which the bundler gives (.config/page.ts). */

declare module '*.css' {
	const address: string;
	export default address;
}

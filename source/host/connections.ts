import process from 'node:process';

const patienceMs = 1000;

const isRefusal = (error: NodeJS.ErrnoException): boolean => error.code === 'ECONNREFUSED';

/** Whether every address of the host refuses a connection, so that nothing listens there. False if unknown. */
export const refusesConnections = async (host: string, port: number): Promise<boolean> =>
	new Promise((resolve) => {
		// Imported only here, because loading the module slows down every start.
		const {createConnection} = process.getBuiltinModule('node:net');
		const socket = createConnection({host, port, timeout: patienceMs});
		const end = (isRefused: boolean): void => {
			socket.destroy();
			resolve(isRefused);
		};

		socket.once('connect', () => {
			end(false);
		});
		socket.once('timeout', () => {
			end(false);
		});
		socket.once('error', (error: NodeJS.ErrnoException | AggregateError) => {
			end(isRefusal(error) || ('errors' in error && error.errors.every((each) => isRefusal(each as Error))));
		});
	});

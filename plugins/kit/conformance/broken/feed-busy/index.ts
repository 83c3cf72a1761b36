/** The good feed, in a package that does what none may do: it starts something when it is imported. */

process.on('SIGTERM', () => {})

export { default } from '../feed/index.ts'

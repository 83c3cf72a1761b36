/** The correct feed, in a package that wrongly starts something when it is imported. */

process.on('SIGTERM', () => {})

export { default } from '../feed/index.ts'

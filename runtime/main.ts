/** The process entry: the command line, and nothing before it. */

import { runCli } from './cli/cli.ts'

process.exitCode = await runCli(process.argv)
// What a plugin left open must not keep a gateway alive that has stopped.
setTimeout(() => {
  if (process.stdout.writableLength === 0) process.exit()
}, 1000).unref()

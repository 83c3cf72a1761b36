/** The process entry: the command line, and nothing before it. */

import { runCli } from './cli/cli.ts'

process.exitCode = await runCli(process.argv)

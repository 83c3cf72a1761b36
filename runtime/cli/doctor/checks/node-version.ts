/** Checks the version of Node.js. */

import { type Check, ok, problem, type Result } from '../check.ts'

/** The version that `engines` in `package.json` asks for. */
const least = 24

export const nodeVersion: Check = {
  name: 'node-version',
  group: 'machine',
  title: 'Node.js',
  run: async () => judgeNode(process.versions.node),
}

export function judgeNode(version: string): Result {
  if (Number.parseInt(version, 10) >= least) return ok(version)
  return problem(
    'NODE_TOO_OLD',
    `${version} runs this command; Reveille needs ${least} or newer`,
    'Install a newer Node.js, or start with `npm start`, which brings one along',
  )
}

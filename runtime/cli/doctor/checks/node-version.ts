/** Checks that Node.js is one that Reveille runs on. */

import { type Check, ok } from '../check.ts'

/** As `engines` of the package says. */
export const leastNode = 24

export function judgeNode(version: string): ReturnType<typeof ok> {
  if (Number.parseInt(version, 10) >= leastNode) return ok(`Node.js ${version}`)
  return {
    state: 'problem',
    code: 'NODE_TOO_OLD',
    message: `Node.js ${version} runs this command; Reveille needs ${leastNode} or newer`,
    fix: 'Install a newer Node.js, or start with `npm start`, which brings one along.',
  }
}

export const nodeVersion: Check = {
  name: 'node-version',
  group: 'machine',
  run: async () => [judgeNode(process.versions.node)],
}

/** Walks with the sources of this clone as each kind of user; `pack.soak.ts` does so with the packed packages. */

import path from 'node:path'
import { testWalks } from './walk.ts'

const installed = {
  command: path.join(import.meta.dirname, '..', 'runtime', 'bin', 'reveille.js'),
  // A clone has all packages.
  add: async () => {},
}

testWalks('the sources', async () => installed)

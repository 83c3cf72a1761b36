/** Walks with the sources of this clone as each kind of user; `pack.soak.ts` does so with the packed packages. */

import path from 'node:path'
import { test } from 'node:test'
import { tourSkip } from './tour.ts'
import { walks } from './walk.ts'

const installed = {
  command: path.join(import.meta.dirname, '..', 'runtime', 'bin', 'reveille.js'),
  // A clone has all packages.
  add: async () => {},
}

for (const [name, walk] of Object.entries(walks))
  test(`from the sources: ${name}`, { timeout: 240_000, skip: tourSkip }, (t) => walk(t, installed))

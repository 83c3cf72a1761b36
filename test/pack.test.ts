/**
 * Tests the published packages outside this repository, with a walk of each kind whose parts differ. `npm run soak` has npm install them, and
 * walks everything.
 */

import { testPackages } from './pack.ts'
import { installPacked } from './packed-installation.ts'

testPackages(
  async (folder, names, packages) => {
    await installPacked(folder, names, packages)
    return undefined
  },
  [
    // The other pages are followed in this clone, by tours.test.ts.
    'a YAML author writes a first mapping',
    'a transform has a package, JSON, `with` and a secret, and is edited live',
    'a channel passes the conformance suite, and delivers for a TypeScript plugin that is edited live',
    'the gateway runs on PostgreSQL, doctor reads it, and backup names its command',
    'github-review-to-slack',
  ],
)

/**
 * Tests the published packages outside this repository, with a walk of each kind whose parts differ. `npm run soak` has npm install them, and
 * walks everything.
 */

import { testPackages } from './pack.ts'
import { installPacked } from './packed-installation.ts'

const short = [
  'a YAML author follows the tour of mappings',
  'a transform has a package, JSON, `with` and a secret, and is edited live',
  'a channel passes the conformance suite, and delivers',
  'github-review-to-slack',
]

testPackages(
  async (folder, names, packages) => {
    await installPacked(folder, names, packages)
    return undefined
  },
  (walk) => short.includes(walk),
)

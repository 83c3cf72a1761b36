/** Runs one node of a cluster, with leases that end sooner than usual where the environment says so. */

import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { createGateway, type GatewayOptions } from '../../runtime/index.ts'

const [configFile = '', role = 'all'] = process.argv.slice(2)
const { REVEILLE_TEST_LEASES: leases, REVEILLE_NODE: node } = process.env
const gateway = await createGateway({
  configFile,
  node,
  role: role as NonNullable<GatewayOptions['role']>,
  watch: false,
  ...(leases && { leases: JSON.parse(leases) }),
})
await gateway.listen()
// A killed process would leave the next ones nothing of what it compiled.
flushCompileCache()
await Promise.race([once(process, 'SIGTERM'), gateway.failed])
await gateway.close({ graceMs: 2000 })

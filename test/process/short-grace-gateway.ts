/**
 * Runs a gateway in the working directory that gives running turns a fifth of a second to end, where the command
 * gives 30 seconds.
 */

import { once } from 'node:events'
import { createGateway } from '../../runtime/index.ts'

const gateway = await createGateway({ configFile: 'reveille.yaml' })
await gateway.listen()
await once(process, 'SIGTERM')
await gateway.close({ graceMs: 200 })

/** Runs a gateway in its own process that reports its memory. Its argument is the configuration. */

import { createGateway } from '../../runtime/index.ts'

const [configFile = ''] = process.argv.slice(2)
const gateway = await createGateway({ configFile, env: {}, watch: true, logStream: { write: report } })
const url = await gateway.listen()
process.send?.({ url })

process.on('message', async (asked) => {
  if (asked === 'memory') process.send?.({ memory: await measure() })
  if (asked === 'stop') {
    await gateway.close({ graceMs: 0 })
    process.disconnect()
  }
})

/** The memory in use after requested collections. */
async function measure() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Passes on only the events that a test waits for. */
function report(line: string): void {
  const { event, level, ...facts } = JSON.parse(line)
  if (/^(snapshot-swapped|candidate-rejected|content-unchanged)$/.test(event) || level >= 50) {
    process.send?.({ line: { event, ...facts } })
  }
}

/** Measures starting: the gateway from the bundle until it is ready, and two commands. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { BenchError } from './bench-error.ts'
import { childrenCpu, cpuSinceStart } from './kernel.ts'
import type { Comparison, Sample } from './measure.ts'
import { type Checkout, type Server, startGateway } from './server.ts'

export function startComparisons(checkouts: readonly Checkout[]): readonly Comparison[] {
  return [
    comparison('start, from the bundle until ready', checkouts, async ({ checkout }) => {
      const server = await startGateway({ checkout })
      const cpuMs = cpuSinceStart(server.pid) / 1000
      await server.stop()
      return { ms: server.readyMs, cpuMs }
    }),
    comparison('start, reveille status', checkouts, ({ checkout, server }) =>
      runCommand(checkout, ['status', '--config', path.join(server.home ?? '', 'reveille.yaml')]),
    ),
    comparison('start, reveille --version', checkouts, ({ checkout }) => runCommand(checkout, ['--version'])),
  ]
}

interface Live {
  readonly checkout: Checkout
  /** A gateway that runs meanwhile. */
  readonly server: Server
}

function comparison(
  name: string,
  checkouts: readonly Checkout[],
  take: (live: Live) => Promise<Sample>,
): Comparison {
  return {
    name,
    compared: 'ms',
    variants: checkouts.map((checkout) => checkout.name),
    openSeconds: 3 * checkouts.length,
    sampleSeconds: 1,
    async open() {
      const all = new Map<string, Live>()
      for (const checkout of checkouts) {
        const live = { checkout, server: await startGateway({ checkout }) }
        all.set(checkout.name, live)
        // The first one may build, and fills the compile cache.
        await take(live)
      }
      return {
        take: (variant) => take(all.get(variant) as Live),
        async close() {
          for (const { server } of all.values()) await server.stop()
        },
      }
    },
  }
}

/** Runs a command as a user does: on the Node.js of the path, not on the one that npm has put before it. */
async function runCommand({ root }: Checkout, args: readonly string[]): Promise<Sample> {
  const cpuBefore = childrenCpu()
  const start = performance.now()
  const child = spawn('node', [path.join(root, 'runtime/bin/reveille.js'), ...args], {
    stdio: 'ignore',
    env: { ...process.env, PATH: userPath() },
  })
  const [code] = await once(child, 'exit')
  const ms = performance.now() - start
  if (code !== 0) throw new BenchError(`${root}: reveille ${args.join(' ')} ended with ${code}`)
  return { ms, cpuMs: (childrenCpu() - cpuBefore) / 1000 }
}

/** The path without what npm has put before it. */
export function userPath(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  return folders.filter((folder) => !folder.includes('node_modules')).join(path.delimiter)
}

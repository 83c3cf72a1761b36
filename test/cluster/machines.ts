/** A cluster in processes of this machine: nodes that may be killed and paused, a database that may be restarted, and a balancer. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type EmbeddedServer, startEmbeddedServer } from '../../plugins/postgres/testing/embedded-server.ts'
import type { NodeRole, Page } from '../../runtime/store/port.ts'
import { writeBundle } from '../../tools/bundle.ts'
import { createGatewayProcess, freePort, type GatewayProcess } from '../durability/gateway-process.ts'
import { createBalancer } from './balancer.ts'
import type { WitnessLine } from './witness-plugin/index.ts'

export const hookToken = 'cluster-hook-token-0123456789abcdef'
export const gatewayToken = 'cluster-gateway-token-0123456789abc'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Machine extends GatewayProcess {
  readonly name: string
  readonly role: NodeRole
}

export type Machines = Awaited<ReturnType<typeof startMachines>>

export interface MachinesOptions {
  readonly roles: readonly NodeRole[]
  readonly leases?: { readonly renewMs: number; readonly expireMs: number; readonly freshMs: number }
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
  /** Does something about the server before nodes are started, and returns the address that a node gets. Default: that of the server. */
  readonly arrange?: (server: EmbeddedServer, folder: string) => Promise<(index: number) => string>
  /** Milliseconds by which the clock of a node is ahead. */
  readonly clocks?: readonly number[]
  /** Arguments of a node, after `node`. Default: `node.ts`, bundled. */
  readonly program?: (index: number, given: NodeArguments) => readonly string[]
}

export interface NodeArguments {
  readonly file: string
  readonly role: NodeRole
}

export async function startMachines(t: TestContext, options: MachinesOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-cluster-'))
  const stack = new AsyncDisposableStack()
  t.after(() => stack.disposeAsync())
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  // Where this process is root's, the server's user could not enter a folder of it.
  const ofDatabase = await mkdtemp(join(tmpdir(), 'reveille-cluster-database-'))
  stack.defer(() => rm(ofDatabase, { recursive: true, force: true, maxRetries: 5 }))
  const database = await startEmbeddedServer({
    folder: ofDatabase,
    fsync: true,
    settings: { autovacuum: 'on', ...options.settings },
  })
  stack.defer(() => database.stop('immediate'))
  const addressOf = (await options.arrange?.(database, ofDatabase)) ?? (() => database.url)
  const witness = join(folder, 'witness')
  await writeFile(witness, '')
  const program = options.program ?? (await bundledNode(stack))
  const nodes = await Promise.all(
    options.roles.map((role, index) =>
      install(folder, { role, index, address: addressOf(index), witness }, { ...options, program }),
    ),
  )
  for (const node of nodes) stack.defer(async () => void (await node.kill('SIGKILL')))
  // The first node makes the tables, and the others start side by side.
  const [first, ...others] = nodes
  await first?.start()
  await Promise.all(others.map((node) => node.start()))
  const balancer = await createBalancer(nodes.map(({ url }) => Number(new URL(url).port)))
  stack.defer(() => balancer.close())

  return {
    database,
    nodes,
    /** The address of the balancer. */
    url: balancer.url,
    ...readersOf(nodes),
    async witnessed(): Promise<readonly WitnessLine[]> {
      const text = await readFile(witness, 'utf8')
      return text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
    },
  }
}

/** Asks the first node that answers. */
function readersOf(nodes: readonly Machine[]) {
  async function read<Answer>(path: string): Promise<Answer> {
    for (const { url } of nodes) {
      const headers = { authorization: `Bearer ${gatewayToken}` }
      const asked = fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(10_000) })
      const answer = await asked.catch(() => undefined)
      if (answer?.ok) return (await answer.json()) as Answer
    }
    throw new Error(`No node answers ${path}:\n${nodes.map((node) => node.output()).join('\n')}`)
  }
  return {
    read,
    async readAll<Item extends { readonly id: string }>(list: string): Promise<readonly Item[]> {
      const all: Item[] = []
      let cursor = ''
      do {
        const page = await read<Page<Item>>(`/api/${list}?limit=500${cursor}`)
        all.push(...page.items)
        cursor = page.next === undefined ? '' : `&cursor=${encodeURIComponent(page.next)}`
      } while (cursor !== '')
      return all
    },
  }
}

interface Place {
  readonly role: NodeRole
  readonly index: number
  /** Of the database. */
  readonly address: string
  readonly witness: string
}

/** From the sources a node takes twice the processor time to start, and a storm starts twenty. */
async function bundledNode(stack: AsyncDisposableStack): Promise<Required<MachinesOptions>['program']> {
  const folder = join(root, 'build', `cluster-${process.pid}`)
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  await writeBundle(root, folder, { node: 'test/cluster/node.ts' })
  return (_index, { file, role }) => [join(folder, 'node.js'), file, role]
}

async function install(
  folder: string,
  { role, index, address, witness }: Place,
  options: MachinesOptions & Required<Pick<MachinesOptions, 'program'>>,
): Promise<Machine> {
  const name = `${role}-${index}`
  const port = await freePort()
  const own = join(folder, name)
  const file = join(own, 'reveille.yaml')
  await mkdir(own)
  await writeFile(
    file,
    `gateway:
  port: ${port}
  store: \${REVEILLE_DATABASE}
  auth: { token: ${gatewayToken} }
  log: { level: warn, format: json }
hooks: { enabled: true, token: ${hookToken} }
agents:
  defaults: { runner: witness, concurrency: 8 }
  route: { channel: witness, to: everyone }
channels: { witness: {} }
plugins: ['${fileURLToPath(new URL('./witness-plugin', import.meta.url))}']
`,
  )
  const gateway = await createGatewayProcess({
    command: () => options.program(index, { file, role }),
    port,
    env: {
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(folder, 'compiled'),
      REVEILLE_DATABASE: address,
      REVEILLE_NODE: name,
      REVEILLE_TEST_WITNESS: witness,
      ...(options.leases && { REVEILLE_TEST_LEASES: JSON.stringify(options.leases) }),
      ...(options.clocks && {
        NODE_OPTIONS: `--import=${new URL('./other-clock.mjs', import.meta.url)}`,
        REVEILLE_TEST_CLOCK: String(options.clocks[index] ?? 0),
      }),
    },
  })
  return { ...gateway, name, role, output: () => `${name}:\n${gateway.output()}` }
}

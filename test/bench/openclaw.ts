/** Measures OpenClaw's gateway beside this one: wakes, and a large payload that a mapping makes a wake of. */

import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BenchError } from './bench-error.ts'
import { cpuSinceStart } from './kernel.ts'
import { type Comparison, openClawName } from './measure.ts'
import { kilobytes, labeledPullRequest } from './payload.ts'
import { burstComparison, type Target } from './requests.ts'
import {
  type Checkout,
  freePort,
  gatewayToken,
  hookToken,
  type Server,
  serve,
  startGateway,
  workFolder,
} from './server.ts'

export interface OpenClaw {
  readonly program: string
  readonly version: string
}

/** Finds the package in a folder in which it was installed, or which is it. */
export function findOpenClaw(folder: string): OpenClaw {
  const places = [path.resolve(folder), path.resolve(folder, 'node_modules/openclaw')]
  const found = places.find((place) => existsSync(path.join(place, 'openclaw.mjs')))
  if (found === undefined)
    throw new BenchError(`--openclaw ${folder}: there is no openclaw.mjs in ${places.join(' or ')}`)
  const { version } = JSON.parse(readFileSync(path.join(found, 'package.json'), 'utf8')) as {
    version: string
  }
  return { program: path.join(found, 'openclaw.mjs'), version }
}

/** CPU in a second. */
const restingMicroseconds = 50_000

const headers = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` }
const template =
  'Review pull request {{number}} of {{repository.full_name}} by {{sender.login}}: {{pull_request.title}}'

/**
 * The texts differ, because OpenClaw keeps equal wakes as one. Both leave the wakes to the next heartbeat, because a turn without a model
 * would cost OpenClaw more than the request.
 */
const wakes = Array.from({ length: 1000 }, (_, number) =>
  JSON.stringify({ text: `Nightly build ${number} is green again`, mode: 'next-heartbeat' }),
)

const hooks = [
  { name: '/wake', path: '/hooks/wake', bodies: wakes },
  {
    name: `mapped wake, ${kilobytes(labeledPullRequest)} KB`,
    path: '/hooks/github',
    bodies: [labeledPullRequest],
  },
]

export function openClawComparisons(
  openClaw: OpenClaw,
  checkouts: readonly Checkout[],
  seconds: number,
): readonly Comparison[] {
  const burst = { connections: 32, seconds }
  return hooks.map((hook) => {
    const shot = (url: string) => ({ url: url + hook.path, headers, bodies: hook.bodies })
    const targets: readonly Target[] = [
      { name: openClawName, start: () => startOpenClaw(openClaw), shot },
      ...checkouts.map((checkout) => ({
        name: checkout.name,
        start: () => startGateway({ checkout, files: { 'mappings/github.yaml': mapping } }),
        shot,
      })),
    ]
    return burstComparison(`${openClawName}, ${hook.name}, 32 connections`, targets, burst)
  })
}

const mapping = `mappings:
  - { id: github, match: { path: github }, action: wake, wakeMode: next-heartbeat, text: "${template}" }
`

async function startOpenClaw({ program }: OpenClaw): Promise<Server> {
  await mkdir(workFolder, { recursive: true })
  const folder = await mkdtemp(path.join(workFolder, 'openclaw-'))
  const port = await freePort()
  const configuration = path.join(folder, 'openclaw.json')
  const mappings = [
    {
      id: 'github',
      match: { path: 'github' },
      action: 'wake',
      wakeMode: 'next-heartbeat',
      textTemplate: template,
    },
  ]
  const auth = { mode: 'token', token: gatewayToken }
  await writeFile(
    configuration,
    JSON.stringify({
      gateway: { mode: 'local', bind: 'loopback', port, auth },
      hooks: { enabled: true, token: hookToken, path: '/hooks', mappings },
    }),
  )
  const server = await serve({
    args: [program, 'gateway', 'run', '--port', String(port)],
    port,
    probe: '/readyz',
    folder,
    deadlineMs: 180_000,
    // Only a gateway that is asked to end takes its own processes with it.
    endsGracefully: true,
    env: {
      ...process.env,
      OPENCLAW_HOME: folder,
      OPENCLAW_STATE_DIR: path.join(folder, 'state'),
      OPENCLAW_CONFIG_PATH: configuration,
      OPENCLAW_DISABLE_BONJOUR: '1',
      OPENCLAW_NO_AUTO_UPDATE: '1',
      OPENCLAW_OFFLINE: '1',
    },
  })
  await untilAtRest(server.pid)
  return server
}

/** OpenClaw says that it is ready before it has started all of its parts. */
async function untilAtRest(pid: number): Promise<void> {
  for (let seconds = 0, quiet = 0; seconds < 60 && quiet < 3; seconds += 1) {
    const before = cpuSinceStart(pid)
    await pause(1000)
    quiet = cpuSinceStart(pid) - before < restingMicroseconds ? quiet + 1 : 0
  }
}

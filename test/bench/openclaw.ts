/** Measures OpenClaw's gateway beside this one: wakes, and a large payload that a mapping makes a wake of. */

import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuSinceStart } from './kernel.ts'
import { BenchError, type Comparison } from './measure.ts'
import { kilobytes, labeledPullRequest } from './payload.ts'
import { burstVariant } from './requests.ts'
import { type Checkout, hookHeaders, type Server, serve, startGateway, tokens } from './server.ts'

export interface OpenClaw {
  readonly program: string
  readonly version: string
}

/** Finds the package in a folder in which it was installed, or which is it. */
export function findOpenClaw(folder: string): OpenClaw {
  const candidates = [path.resolve(folder), path.resolve(folder, 'node_modules/openclaw')]
  const found = candidates.find((each) => existsSync(path.join(each, 'openclaw.mjs')))
  if (found === undefined)
    throw new BenchError(`--openclaw ${folder}: there is no openclaw.mjs in ${candidates.join(' or ')}`)
  const { version } = JSON.parse(readFileSync(path.join(found, 'package.json'), 'utf8')) as {
    version: string
  }
  return { program: path.join(found, 'openclaw.mjs'), version }
}

/** CPU in a second. */
const restingMicroseconds = 50_000

const template =
  'Review pull request {{number}} of {{repository.full_name}} by {{sender.login}}: {{pull_request.title}}'
const mapping = { id: 'github', match: { path: 'github' }, action: 'wake', wakeMode: 'next-heartbeat' }

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
  const files = { 'mappings/github.yaml': JSON.stringify({ mappings: [{ ...mapping, text: template }] }) }
  return hooks.map((hook) => {
    const shot = (url: string) => ({ url: url + hook.path, headers: hookHeaders, bodies: hook.bodies })
    const gateways = checkouts.map((checkout) =>
      burstVariant(checkout.name, () => startGateway({ checkout, files }), shot, burst),
    )
    return {
      name: `OpenClaw, ${hook.name}, 32 connections`,
      compared: 'perSecond',
      variants: [burstVariant('OpenClaw', () => startOpenClaw(openClaw), shot, burst), ...gateways],
    }
  })
}

async function startOpenClaw({ program }: OpenClaw): Promise<Server> {
  const auth = { mode: 'token', token: tokens.gateway }
  const mappings = [{ ...mapping, textTemplate: template }]
  const server = await serve({
    files: (port) => ({
      'openclaw.json': JSON.stringify({
        gateway: { mode: 'local', bind: 'loopback', port, auth },
        hooks: { enabled: true, token: tokens.hook, path: '/hooks', mappings },
      }),
    }),
    args: (_home, port) => [program, 'gateway', 'run', '--port', String(port)],
    maxReadyMs: 180_000,
    // Only a gateway that is asked to end takes its own processes with it.
    endsGracefully: true,
    env: (home) => ({
      OPENCLAW_HOME: home,
      OPENCLAW_STATE_DIR: path.join(home, 'state'),
      OPENCLAW_CONFIG_PATH: path.join(home, 'openclaw.json'),
      OPENCLAW_DISABLE_BONJOUR: '1',
      OPENCLAW_NO_AUTO_UPDATE: '1',
      OPENCLAW_OFFLINE: '1',
    }),
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

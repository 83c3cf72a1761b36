/** Writes what a person sees when the gateway has started: its address, what is active, and commands to paste. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { authOf, type Snapshot } from '@reveille/engine'
import { assumedRoute } from '../../dispatch/index.ts'
import type { Gateway } from '../../gateway.ts'
import { packageFile } from '../../package-folder.ts'
import { documentOf } from '../../written-document.ts'
import { configWords, shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import { formatSummary, shellWord } from '../print.ts'
import { addressText } from '../status-text.ts'

interface Started {
  readonly address: string
  /** The address of the tunnel on the internet. */
  readonly publicUrl?: string | undefined
  readonly configFile: string
  /** True if edits go live by themselves. */
  readonly watch: boolean
}

/** Each path is as the user would write it from the working directory. */
export async function bannerText(
  gateway: Pick<Gateway, 'current' | 'tunnelAddress'>,
  started: Started,
  io: Io,
): Promise<string> {
  const { address, publicUrl, configFile, watch } = started
  const { generation, snapshot } = gateway.current()
  const { agents, channels, gateway: surface, hooks } = snapshot.settings
  const { runner, model } = agents.defaults
  const route = agents.route ?? assumedRoute(channels)
  const tunnelAddress = gateway.tunnelAddress()
  const withoutUrl = `leads to ${tunnelAddress}, which serves ${hooks.path} alone; an address on the internet is not known yet`
  const withUrl = `${publicUrl}${hooks.path}, until the gateway stops; nothing else is reachable there`
  const whenLive = watch ? 'when saved' : 'with `reveille reload`'
  const facts = {
    runner:
      runner === 'echo'
        ? 'echo (answers with its prompt; no model is asked)'
        : [runner, model].filter(Boolean).join(', with '),
    channels: Object.keys(channels).join(', ') || 'none',
    replies: route ? `to ${addressText(route)}` : 'have no route yet',
    mappings: `${snapshot.mappings.length}; files in ${shownPath(hooks.mappingsDir, io)}`,
    config: `${shownPath(configFile, io)}, generation ${generation}; edits go live ${whenLive}`,
    console:
      surface.tokens.length > 0 ? `${address}/console` : 'off: the configuration has no gateway.auth.token',
    ...(tunnelAddress !== undefined && { tunnel: publicUrl === undefined ? withoutUrl : withUrl }),
  }
  const lines = formatSummary(facts, io.now()).replaceAll(/^(?=.)/gm, '  ')
  const invited = hooks.enabled
    ? await invitation(snapshot, started, io)
    : ['Hooks are off: set hooks.enabled to true.']
  return ['', `Reveille listens on ${address}`, '', lines, ...invited, ''].join('\n')
}

/** Commands of several lines, each of which fits a terminal of 80 columns. */
async function invitation(snapshot: Snapshot, { address, configFile }: Started, io: Io): Promise<string[]> {
  const { gateway: surface, hooks } = snapshot.settings
  const sample = path.join('samples', 'github-pull-request.json')
  // The path of the package is too long for a line.
  const copy = path.join(path.dirname(configFile), sample)
  const file = shownPath(existsSync(copy) ? copy : packageFile('scaffold', sample), io)
  const bearer = await findBearer(configFile, io)
  const samples: [title: string, endpoint: string, rest: readonly string[]][] = [
    ['Wake the main session:', 'wake', [`-d '{"text":"The doorbell rang","mode":"now"}'`]],
    ['Run an agent:', 'agent', [`-d '{"message":"Say hello","name":"Hello"}'`]],
  ]
  if (snapshot.mappings.some(({ path }) => path === 'github'))
    samples.push([
      'Send what GitHub sends when a pull request is opened:',
      'github',
      [`-H 'x-github-event: pull_request'`, `--data @${shellWord(file)}`],
    ])
  const lines = samples
    // A request that a provider must sign cannot be pasted.
    .filter(([, endpoint]) => authOf(snapshot.effectivePolicyOf(endpoint) ?? {}) === 'token')
    .map(([title, endpoint, rest]) => [
      title,
      [`curl ${address}${hooks.path}/${endpoint}`, `-H "Authorization: Bearer ${bearer}"`, ...rest].join(
        ' \\\n  ',
      ),
    ])
  if (surface.tokens.length > 0)
    lines.push(['See what became of them:', `npx reveille runs${configWords(configFile, io)}`])
  return [
    'Paste one of these into another terminal:',
    ...lines.flatMap(([title, line]) => ['', `# ${title}`, String(line)]),
  ]
}

/**
 * Shell text for the hook token in a line to paste. The shell reads the token when the line runs, so that no secret is on the screen or
 * in a history. The environment wins over `.env`, as for loading.
 */
export async function findBearer(configFile: string, io: Pick<Io, 'cwd' | 'env'>): Promise<string> {
  const document = documentOf(await readOrNothing(configFile))
  const token = document.getIn(['hooks', 'token'])
  const first = typeof token === 'string' ? token : document.getIn(['hooks', 'token', 0])
  const [, name] = /^\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}$/.exec(String(first)) ?? []
  if (name !== undefined && io.env[name]) return `$${name}`
  const file = path.join(path.dirname(configFile), '.env')
  const lines = name === undefined ? [] : (await readOrNothing(file)).split('\n')
  // The pasted line would misread a value that is quoted or exported.
  const isRead = lines.some((line) => new RegExp(`^${name}=[\\w.~+/-]+\\r?$`).test(line))
  return isRead ? `$(sed -n s/^${name}=//p ${shellWord(shownPath(file, io))})` : '<your hook token>'
}

async function readOrNothing(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

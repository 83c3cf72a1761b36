/** Writes what a person sees when the gateway has started: its address, what is active, and commands to paste. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { authOf } from '@reveille/engine'
import { assumedRoute } from '../../dispatch/index.ts'
import type { Gateway } from '../../gateway.ts'
import { packageFile } from '../../package-folder.ts'
import { documentOf } from '../../written-document.ts'
import { configWords, shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import { shellWord } from '../print.ts'
import { addressText } from '../status-text.ts'

/** The banner's content; each path is as the user would write it from the working directory. */
export type BannerFacts = Awaited<ReturnType<typeof bannerFacts>>

interface Started {
  readonly address: string
  /** The address of the tunnel on the internet. */
  readonly publicUrl?: string | undefined
  readonly configFile: string
  /** True if edits go live by themselves. */
  readonly watch: boolean
}

export async function bannerFacts(
  gateway: Pick<Gateway, 'current' | 'tunnelAddress'>,
  { address, publicUrl, configFile, watch }: Started,
  io: Io,
) {
  const { generation, snapshot } = gateway.current()
  const { agents, channels, gateway: surface, hooks } = snapshot.settings
  const { runner, model } = agents.defaults
  const sample = path.join('samples', 'github-pull-request.json')
  // The path of the package is too long for a line.
  const copy = path.join(path.dirname(configFile), sample)
  return {
    address,
    /** Where a tunnel leads to. */
    tunnelAddress: gateway.tunnelAddress(),
    publicUrl,
    watch,
    runner,
    ...(model !== undefined && { model }),
    channels: Object.keys(channels),
    route: agents.route ?? assumedRoute(channels),
    hooksEnabled: hooks.enabled,
    hooksPath: hooks.path,
    /** True if there is an admin surface. */
    admin: surface.tokens.length > 0,
    bearer: await findBearer(configFile, io),
    configFile: shownPath(configFile, io),
    configWords: configWords(configFile, io),
    mappingsFolder: shownPath(hooks.mappingsDir, io),
    generation,
    mappings: snapshot.mappings,
    /** True if a token alone opens an endpoint; a request that a provider must sign cannot be pasted. */
    takesToken: (endpoint: string) => authOf(snapshot.effectivePolicyOf(endpoint) ?? {}) === 'token',
    sampleFile: shownPath(existsSync(copy) ? copy : packageFile('scaffold', sample), io),
  }
}

export function formatBanner(facts: BannerFacts): string {
  const { address, channels, route, mappings, generation, runner, model, watch, hooksPath } = facts
  const withModel = model === undefined ? runner : `${runner}, with ${model}`
  const whenLive = watch ? 'when saved' : 'with `reveille reload`'
  const { publicUrl, tunnelAddress } = facts
  const tunnel =
    publicUrl === undefined
      ? `leads to ${tunnelAddress}, which serves ${hooksPath} alone; an address on the internet is not known yet`
      : `${publicUrl}${hooksPath}, until the gateway stops; nothing else is reachable there`
  const lines = [
    ['runner', runner === 'echo' ? 'echo (answers with its prompt; no model is asked)' : withModel],
    ['channels', channels.length === 0 ? 'none' : channels.join(', ')],
    ['replies', route ? `to ${addressText(route)}` : 'have no route yet'],
    ['mappings', `${mappings.length}; files in ${facts.mappingsFolder}`],
    ['config', `${facts.configFile}, generation ${generation}; edits go live ${whenLive}`],
    ['console', facts.admin ? `${address}/console` : 'off: the configuration has no gateway.auth.token'],
    ...(tunnelAddress === undefined ? [] : [['tunnel', tunnel]]),
  ].map(([label = '', value]) => `  ${label.padEnd(9)} ${value}`)
  return ['', `Reveille listens on ${address}`, '', ...lines, '', ...invitation(facts), ''].join('\n')
}

/** Commands of several lines, each of which fits a terminal of 80 columns. */
function invitation(facts: BannerFacts): string[] {
  if (!facts.hooksEnabled) return ['Hooks are off: set hooks.enabled to true.']
  const pullRequest = [`-H 'x-github-event: pull_request'`, `--data @${shellWord(facts.sampleFile)}`]
  const samples: [title: string, endpoint: string, rest: readonly string[]][] = [
    ['Wake the main session:', 'wake', [`-d '{"text":"The doorbell rang","mode":"now"}'`]],
    ['Run an agent:', 'agent', [`-d '{"message":"Say hello","name":"Hello"}'`]],
  ]
  if (facts.mappings.some(({ path }) => path === 'github'))
    samples.push(['Send what GitHub sends when a pull request is opened:', 'github', pullRequest])
  const lines = samples
    .filter(([, endpoint]) => facts.takesToken(endpoint))
    .map(([title, endpoint, rest]) => [
      title,
      [
        `curl ${facts.address}${facts.hooksPath}/${endpoint}`,
        `-H "Authorization: Bearer ${facts.bearer}"`,
        ...rest,
      ].join(' \\\n  '),
    ])
  if (facts.admin) lines.push(['See what became of them:', `reveille runs${facts.configWords}`])
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

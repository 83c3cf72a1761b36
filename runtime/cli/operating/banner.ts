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
import { programName, shellWord } from '../pasted.ts'

/** The place where a command finds the hook token, so that a line to paste need not hold it. */
export type TokenSource =
  | { readonly kind: 'file'; readonly file: string; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'unknown' }

/** What the banner shows; each path is as the user would write it from the working directory. */
export type BannerFacts = Awaited<ReturnType<typeof bannerFacts>>

export async function bannerFacts(
  gateway: Pick<Gateway, 'current' | 'tunnelAddress'>,
  {
    address,
    publicUrl,
    configFile,
    watch,
  }: { address: string; publicUrl?: string | undefined; configFile: string; watch: boolean },
  io: Io,
) {
  const { generation, snapshot } = gateway.current()
  const { agents, channels, gateway: surface, hooks } = snapshot.settings
  const { runner, model } = agents.defaults
  const source = await findTokenSource(configFile, io.env)
  return {
    address,
    /** Where a tunnel leads to. */
    tunnelAddress: gateway.tunnelAddress(),
    /** The address of the tunnel on the internet. */
    publicUrl,
    /** Whether edits go live by themselves. */
    watch,
    runner,
    ...(model !== undefined && { model }),
    channels: Object.keys(channels),
    route: agents.route ?? assumedRoute(channels),
    hooksEnabled: hooks.enabled,
    hooksPath: hooks.path,
    /** Whether there is an admin surface. */
    admin: surface.tokens.length > 0,
    tokenSource: source.kind === 'file' ? { ...source, file: shownPath(source.file, io) } : source,
    configFile: shownPath(configFile, io),
    configWords: configWords(configFile, io),
    mappingsFolder: shownPath(hooks.mappingsDir, io),
    program: programName(io),
    generation,
    mappings: snapshot.mappings,
    /** Whether a token alone opens an endpoint; a request that a provider must sign cannot be pasted. */
    takesToken: (endpoint: string) => authOf(snapshot.effectivePolicyOf(endpoint) ?? {}) === 'token',
    sampleFile: shownPath(sampleFor(configFile), io),
  }
}

/** The copy beside the configuration, because the path of the package is too long for a line. */
function sampleFor(configFile: string): string {
  const name = path.join('samples', 'github-pull-request.json')
  const copy = path.join(path.dirname(configFile), name)
  return existsSync(copy) ? copy : packageFile('scaffold', name)
}

export function formatBanner(facts: BannerFacts): string {
  const { address, channels, route, mappings, generation } = facts
  const lines = [
    ['runner', runnerText(facts)],
    ['channels', channels.length === 0 ? 'none' : channels.join(', ')],
    ['replies', route ? `to ${[route.channel, route.to].filter(Boolean).join(':')}` : 'have no route yet'],
    ['mappings', `${mappings.length}; files in ${facts.mappingsFolder}`],
    ['config', `${facts.configFile}, generation ${generation}; edits go live ${whenLive(facts)}`],
    ['console', facts.admin ? `${address}/console` : 'off: the configuration has no gateway.auth.token'],
  ]
  if (facts.tunnelAddress !== undefined) lines.push(['tunnel', tunnelText(facts)])
  return [
    '',
    `Reveille listens on ${address}`,
    '',
    ...lines.map(([label, value]) => `  ${String(label).padEnd(9)} ${value}`),
    '',
    ...invitation(facts),
    '',
  ].join('\n')
}

function tunnelText({ publicUrl, tunnelAddress, hooksPath }: BannerFacts): string {
  return publicUrl === undefined
    ? `leads to ${tunnelAddress}, which serves ${hooksPath} alone; an address on the internet is not known yet`
    : `${publicUrl}${hooksPath}, until the gateway stops; nothing else is reachable there`
}

function runnerText({ runner, model }: BannerFacts): string {
  if (runner === 'echo') return 'echo (answers with its prompt; no model is asked)'
  return model === undefined ? runner : `${runner}, with ${model}`
}

function whenLive({ watch, program }: BannerFacts): string {
  return watch ? 'when saved' : `with \`${program} reload\``
}

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
    .map(([title, endpoint, rest]) => [title, curl(facts, endpoint, rest)])
  if (facts.admin) {
    const { program } = facts
    lines.push(['See what became of them:', `${program} runs${facts.configWords}`])
  }
  return [
    'Paste one of these into another terminal:',
    ...lines.flatMap(([title, line]) => ['', `# ${title}`, String(line)]),
  ]
}

/** A command of several lines, each of which fits a terminal of 80 columns. */
function curl(facts: BannerFacts, endpoint: string, rest: readonly string[]): string {
  const { address, hooksPath, tokenSource } = facts
  const words = [
    `curl ${address}${hooksPath}/${endpoint}`,
    `-H "Authorization: Bearer ${bearer(tokenSource)}"`,
    ...rest,
  ]
  return words.join(' \\\n  ')
}

/** The shell reads the token when the line runs, so that no secret is on the screen or in a history. */
function bearer(source: TokenSource): string {
  switch (source.kind) {
    case 'file':
      return `$(sed -n s/^${source.name}=//p ${shellWord(source.file)})`
    case 'environment':
      return `$${source.name}`
    case 'unknown':
      return '<your hook token>'
  }
}

const reference = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}$/

/** Finds where a sender can read the hook token, without reading it. The environment wins over `.env`, as for loading. */
export async function findTokenSource(
  configFile: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<TokenSource> {
  const name = await nameIn(configFile)
  if (name === undefined) return { kind: 'unknown' }
  if (env[name]) return { kind: 'environment', name }
  const file = path.join(path.dirname(configFile), '.env')
  const lines = (await readOrNothing(file)).split('\n')
  // The pasted line would misread a value that is quoted or exported.
  return lines.some((line) => new RegExp(`^${name}=[\\w.~+/-]+\\r?$`).test(line))
    ? { kind: 'file', file, name }
    : { kind: 'unknown' }
}

/** The variable that `hooks.token`, or the first of several tokens, refers to. */
async function nameIn(configFile: string): Promise<string | undefined> {
  const document = documentOf(await readOrNothing(configFile))
  const token = document.getIn(['hooks', 'token']) ?? undefined
  const first = typeof token === 'string' ? token : document.getIn(['hooks', 'token', 0])
  return typeof first === 'string' ? reference.exec(first)?.[1] : undefined
}

async function readOrNothing(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

/** Writes what a person sees when the gateway has started: its address, what is active, and commands to paste. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { MappingSummary } from '@reveille/engine'
import { documentOf } from '../../written-document.ts'
import { shellWord } from '../pasted.ts'

/** The place where a command finds the hook token, so that a line to paste need not hold it. */
export type TokenSource =
  | { readonly kind: 'file'; readonly file: string; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'unknown' }

export interface BannerFacts {
  /** `http://127.0.0.1:8787`. */
  readonly address: string
  readonly runner: string
  /** The default model. */
  readonly model?: string
  readonly channels: readonly string[]
  readonly route?: { readonly channel: string; readonly to?: string }
  readonly hooksEnabled: boolean
  readonly hooksPath: string
  /** Whether there is an admin surface. */
  readonly admin: boolean
  readonly tokenSource: TokenSource
  /** The path as the user would write it from the working directory, like all paths here. */
  readonly configFile: string
  /** The option by which a command finds it: ` --config FILE`, or nothing. */
  readonly configWords: string
  /** The folder of mapping files. */
  readonly mappingsFolder: string
  /** How the user calls the command line. */
  readonly program: string
  readonly generation: number
  /** Whether edits go live by themselves. */
  readonly watch: boolean
  readonly mappings: readonly MappingSummary[]
  /** Whether a token alone opens an endpoint; a request that a provider must sign cannot be pasted. */
  readonly takesToken: (endpoint: string) => boolean
  /** The sample payload. */
  readonly sampleFile: string
}

export function formatBanner(facts: BannerFacts): string {
  const { address, channels, route, mappings, generation } = facts
  const lines = [
    ['runner', runnerText(facts)],
    ['channels', channels.length === 0 ? 'none' : channels.join(', ')],
    ['replies', route ? `to ${[route.channel, route.to].filter(Boolean).join(':')}` : 'have no route yet'],
    ['mappings', `${mappings.length}; files in ${facts.mappingsFolder}`],
    ['config', `${facts.configFile}, generation ${generation}; edits go live ${whenLive(facts)}`],
    ['admin', facts.admin ? `${address}/api` : 'off: the configuration has no gateway.auth.token'],
  ]
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

function runnerText({ runner, model }: BannerFacts): string {
  if (runner === 'echo') return 'echo (answers with its prompt; no model is asked)'
  return model === undefined ? runner : `${runner}, with ${model}`
}

function whenLive({ watch, program }: BannerFacts): string {
  return watch ? 'when saved' : `with \`${program} reload\``
}

function invitation(facts: BannerFacts): string[] {
  if (!facts.hooksEnabled) return ['Hooks are off: set hooks.enabled to true.']
  const pullRequest = `-H 'x-github-event: pull_request' --data @${shellWord(facts.sampleFile)}`
  const samples: [title: string, endpoint: string, rest: string][] = [
    ['Wake the main session:', 'wake', `-d '{"text":"The doorbell rang","mode":"now"}'`],
    ['Run an agent:', 'agent', `-d '{"message":"Say hello","name":"Hello"}'`],
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

function curl(facts: BannerFacts, endpoint: string, rest: string): string {
  return `curl ${facts.address}${facts.hooksPath}/${endpoint} -H "Authorization: Bearer ${bearer(facts.tokenSource)}" ${rest}`
}

/** The shell reads the token when the line runs, so that no secret is on the screen or in a history. */
function bearer(source: TokenSource): string {
  switch (source.kind) {
    case 'file':
      return `$(grep ^${source.name}= ${shellWord(source.file)} | cut -d= -f2)`
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

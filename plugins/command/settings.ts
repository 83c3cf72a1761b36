/** Compiles a configuration together with its recipe and the defaults. */

import { compileRedaction } from '@reveille/kit'
import {
  type CommandConfiguration,
  type Recipe,
  type ThinkingLevel,
  thinkingLevels,
} from './configuration.ts'
import { type Arguments, compileArguments } from './input/arguments.ts'
import { compileEnvironment } from './input/environment.ts'
import { badConfiguration } from './input/placeholder.ts'
import { compileOutput } from './output/reader.ts'
import { recipes } from './recipes/recipes.ts'

const defaults: Omit<
  Required<CommandConfiguration>,
  'preset' | 'command' | 'resume' | 'lost' | 'taken' | 'outage' | 'history' | 'cwd'
> = {
  args: [],
  extraArgs: [],
  start: [],
  thinking: {},
  input: 'stdin',
  output: {},
  session: 'none',
  killGrace: '5s',
  maxOutputBytes: 8 * 1024 * 1024,
  retryableExitCodes: [],
  disarm: true,
  env: {},
  envAllow: [],
  /** Accepts names, versions, paths and a window in brackets, and nothing that begins with a dash. */
  modelPattern: '[A-Za-z0-9][A-Za-z0-9._:/@+~-]*(\\[[A-Za-z0-9]+\\])?',
}

const unitMs = { ms: 1, s: 1000, m: 60_000 } as const

/** @throws PluginError `bad-config` */
export function compileSettings(
  given: CommandConfiguration,
  { environment, isWindows }: { environment: NodeJS.ProcessEnv; isWindows: boolean },
) {
  const recipe = given.preset === undefined ? {} : recipes[given.preset]
  const whole = { ...defaults, ...recipe, ...given }
  const { command, args, extraArgs, start, resume, thinking, input, output, session } = whole
  if (command === undefined) throw badConfiguration('command is required where no preset is named')
  if (output.format !== undefined && output.format !== 'text' && output.text === undefined)
    throw badConfiguration(`output.text is required with output.format: ${output.format}`)

  const combinations = new Map<string, Arguments>()
  for (const level of [undefined, ...thinkingLevels]) {
    const some = { args, extraArgs, ...(level && { [`thinking.${level}`]: thinking[level] ?? [] }) }
    combinations.set(`start ${level}`, compileArguments({ ...some, start }))
    combinations.set(`resume ${level}`, compileArguments({ ...some, resume: resume ?? start }))
  }
  for (const { names } of combinations.values()) checkPrompt(names.has('prompt'), input)

  const compiled = compileEnvironment({ given: whole.env, allow: whole.envAllow, environment, isWindows })
  const model = compilePattern(`^(?:${whole.modelPattern})$`, 'modelPattern')
  return {
    command,
    /** Returns the arguments of a turn. @throws PluginError `bad-value` */
    argumentsFor(isResumed: boolean, level: ThinkingLevel | undefined) {
      const found = combinations.get(`${isResumed ? 'resume' : 'start'} ${level}`)
      if (found === undefined) throw new Error(`no arguments for ${level}`)
      return found
    },
    hasThinking: (level: string | undefined): level is ThinkingLevel => Object.hasOwn(thinking, level ?? ''),
    input,
    createReader: compileOutput(output),
    countsTokens:
      (output.format ?? 'text') !== 'text' &&
      output.usage?.input !== undefined &&
      output.usage.output !== undefined,
    countsWholeConversation: output.usage?.cumulative ?? false,
    session,
    /** True if a conversation can be continued with arguments. */
    canResume: resume !== undefined,
    /** Recognises a lost conversation. Undefined if any failure of a continued conversation means that it is lost. */
    lost: whole.lost && compilePatterns(whole.lost, 'lost'),
    taken: compilePatterns(whole.taken ?? [], 'taken'),
    /** Recognises a failure that every other turn would meet too, such as a refused key. */
    isOutage: compilePatterns(whole.outage ?? [], 'outage'),
    history: whole.history ?? session === 'none',
    disarm: whole.disarm,
    isModel: (name: string) => model.test(name),
    environment: compiled,
    redact: compileRedaction(compiled.secrets),
    /** The configured folder; undefined for the runner's own. */
    cwd: whole.cwd,
    graceMs: parseMs(whole.killGrace),
    maxOutputBytes: whole.maxOutputBytes,
    retryableExitCodes: whole.retryableExitCodes,
  }
}

export type Settings = ReturnType<typeof compileSettings>

function checkPrompt(isNamed: boolean, input: Recipe['input']): void {
  if (isNamed === (input === 'argument')) return
  throw badConfiguration(
    isNamed
      ? `{prompt} in an argument wants input: argument, not ${input}`
      : 'input: argument wants {prompt} in args, or in start and resume',
  )
}

function compilePatterns(texts: readonly string[], key: string): (text: string) => boolean {
  const patterns = texts.map((text, index) => compilePattern(text, `${key}[${index}]`))
  return (text) => patterns.some((pattern) => pattern.test(text))
}

function compilePattern(text: string, key: string): RegExp {
  try {
    return new RegExp(text, key === 'modelPattern' ? '' : 'i')
  } catch (cause) {
    throw badConfiguration(`${key} is no regular expression: ${(cause as Error).message}`)
  }
}

function parseMs(text: string): number {
  const [, count, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
  return Number(count) * unitMs[unit as keyof typeof unitMs]
}

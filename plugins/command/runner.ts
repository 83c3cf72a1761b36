/**
 * Runs a turn: it finds the conversation, tries the program, and tries again if the conversation is taken or lost.
 *
 *   start  --the program has it already (taken)--> resume
 *   resume --the program has lost it (lost)------> restart under another id, with a warning if a conversation was lost
 *
 * A conversation is taken if its id was not stored because the turn that began it was cut off. If that happened early, the
 * conversation may be both taken and lost.
 */

import { randomUUID } from 'node:crypto'
import {
  disarmReferences,
  type Progress,
  permanentError,
  type Runner,
  type Turn,
  type TurnCall,
  type TurnResult,
} from '@reveille/kit'
import { abortedError, badModel, exited, failed, notStarted, overflowed, unreadable } from './errors.ts'
import type { EnsureFolder } from './folder.ts'
import type { Values } from './input/placeholder.ts'
import { lineOf, promptWith } from './input/prompt.ts'
import type { Reading } from './output/fields.ts'
import { missingProgram } from './process/find-program.ts'
import type { ProgramEnd } from './process/program.ts'
import type { Programs } from './process/programs.ts'
import type { Settings } from './settings.ts'
import { formatState, parseState, type State, sessionIdOf, tokensSince, usageOf } from './state.ts'

export interface RunnerOptions {
  readonly settings: Settings
  readonly programs: Programs
  readonly ensureFolder: EnsureFolder
  readonly isWindows: boolean
  /** The signal that is aborted when the plugin closes. */
  readonly signal: AbortSignal
}

/** One attempt at running the program. */
interface Attempt {
  readonly isResumed: boolean
  readonly session: string | undefined
}

interface ProgramOutcome {
  readonly end: Extract<ProgramEnd, { kind: 'exited' }>
  readonly reading: Reading
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the steps of one turn share its process and its output
export function createCommandRunner(options: RunnerOptions): Runner {
  const { settings, programs, isWindows } = options
  const { command, redact } = settings
  const keepsHistory = settings.session !== 'none'

  async function attempt(
    turn: Turn,
    call: TurnCall,
    signal: AbortSignal,
    each: Attempt,
  ): Promise<ProgramOutcome> {
    const level = settings.hasThinking(turn.thinking) ? turn.thinking : undefined
    const args = settings.argumentsFor(each.isResumed, level)
    const values = valuesOf(turn, each.session)
    const hasSystemPrompt = args.names.has('systemPrompt') || (keepsHistory && each.isResumed)
    const prompt = promptWith(turn.prompt, {
      systemPrompt: hasSystemPrompt ? undefined : turn.systemPrompt,
      history: settings.history || turn.kind === 'compaction' ? turn.history : [],
    })
    const cwd = await options.ensureFolder()
    const env = settings.environment.render(values, cwd)
    const reader = settings.createReader((progress: Progress) => call.onProgress?.(progress))
    const program = await programs.start(turn.sessionKey, {
      command,
      args: args.render({ ...values, prompt }),
      cwd,
      env,
      input: { stdin: prompt, json: lineOf(turn, each.session), argument: undefined }[settings.input],
      maxOutputBytes: settings.maxOutputBytes,
      graceMs: settings.graceMs,
      isWindows,
      signal,
      onOutput: reader.write,
    })
    const end = await program.ended
    if (end.kind === 'aborted') throw abortedError(signal.reason)
    if (end.kind === 'not-started') throw notStarted(command, end.error, env['PATH'])
    if (end.kind === 'overflowed') throw overflowed(command, settings.maxOutputBytes)
    return { end: { ...end, stderr: redact(end.stderr) }, reading: reader.end() }
  }

  /** Returns a warning for each setting that the program cannot be given. */
  function ignoredSettings(turn: Turn): string[] {
    if (settings.input === 'json') return []
    const { names } = settings.argumentsFor(false, undefined)
    const isThinking =
      turn.thinking !== undefined && !settings.hasThinking(turn.thinking) && !names.has('thinking')
    const isModel = turn.model !== undefined && !names.has('model') && !names.has('modelName')
    return [
      ...(isThinking
        ? [`${command} has no arguments for thinking ${turn.thinking}, so the setting was ignored.`]
        : []),
      ...(isModel ? [`${command} has no argument for a model, so ${turn.model} was ignored.`] : []),
    ]
  }

  function isLost({ end, reading }: ProgramOutcome): boolean {
    if (settings.lost !== undefined)
      return settings.lost(`${reading.error ?? ''}\n${end.stderr}\n${reading.unreadable ?? ''}`)
    return end.code !== 0 && !isRetryable(end.code)
  }

  function isRetryable(code: number | null): boolean {
    return code !== null && settings.retryableExitCodes.includes(code)
  }

  function hasFailed({ end, reading }: ProgramOutcome): boolean {
    return end.code !== 0 || reading.error !== undefined
  }

  function resultOf(
    { end, reading }: ProgramOutcome,
    known: State,
    tried: Attempt,
    warnings: readonly string[],
  ): TurnResult {
    const error = reading.error === undefined ? undefined : redact(reading.error)
    // The program's words begin each of these, so that a pattern can tell them from what they quote.
    const wholeService = [reading.error, end.stderr].some((words) => settings.isOutage(words?.trim() ?? ''))
    if (end.code !== 0) {
      throw exited(command, { ...end, error }, { retryable: isRetryable(end.code), wholeService })
    }
    if (error !== undefined) throw failed(command, error, wholeService)
    if (reading.unreadable !== undefined) throw unreadable(command, redact(reading.unreadable))

    const before = tried.isResumed ? known.totals : undefined
    const tokens = settings.countsWholeConversation ? tokensSince(reading.tokens, before) : reading.tokens
    const session = settings.session === 'theirs' ? (idOf(reading.session) ?? tried.session) : tried.session
    const state = formatState({
      session,
      totals: settings.countsWholeConversation ? reading.tokens : undefined,
    })
    const usage = usageOf(tokens)
    const allWarnings = [
      ...warnings,
      ...(reading.reply === undefined
        ? [`Nothing that ${command} printed is a reply as output.text says.`]
        : []),
      ...(keepsHistory && state === undefined
        ? [`${command} named no conversation, so the next turn of this session begins a new one.`]
        : []),
    ]
    return {
      reply: reading.reply ?? '',
      ...(usage && { usage }),
      ...(reading.model !== undefined && { model: reading.model }),
      ...(keepsHistory && state !== undefined && { state }),
      ...(allWarnings.length > 0 && { warnings: allWarnings }),
    }
  }

  async function run(given: Turn, call: TurnCall): Promise<TurnResult> {
    const turn = settings.disarm ? disarmReferences(given) : given
    const signal = AbortSignal.any([call.signal, options.signal])
    if (signal.aborted) throw abortedError(signal.reason)
    if (turn.model !== undefined && !settings.isModel(turn.model)) {
      throw permanentError('bad-value', badModel(command, turn.model))
    }
    const warnings = ignoredSettings(turn)
    const state = keepsHistory ? parseState(turn.state) : {}
    const ours = settings.session === 'ours' ? sessionIdOf(turn.sessionKey) : undefined
    const start = { isResumed: false, session: ours }
    const resume = { isResumed: true, session: state.session ?? ours }
    // Another id is used, because the old one may be taken even if it cannot be continued.
    const restart = { isResumed: false, session: ours && randomUUID() }

    const first = state.session === undefined ? start : resume
    const outcome = await attempt(turn, call, signal, first)
    if (!hasFailed(outcome)) return resultOf(outcome, state, first, warnings)

    if (first.isResumed && settings.canResume && isLost(outcome)) {
      const lost = `${command} no longer had the conversation of this session and began a new one.`
      return resultOf(await attempt(turn, call, signal, restart), {}, restart, [lost, ...warnings])
    }
    if (!first.isResumed && ours !== undefined && settings.canResume && settings.taken(outcome.end.stderr)) {
      const second = await attempt(turn, call, signal, resume)
      if (!hasFailed(second) || !isLost(second)) return resultOf(second, state, resume, warnings)
      return resultOf(await attempt(turn, call, signal, restart), {}, restart, warnings)
    }
    return resultOf(outcome, state, first, warnings)
  }

  return {
    id: 'command',
    async check() {
      // A program that is looked up in the registry of Windows cannot be judged here.
      if (isWindows) return undefined
      try {
        const cwd = settings.cwd === undefined ? process.cwd() : await options.ensureFolder()
        const { PATH } = settings.environment.render({}, cwd)
        return (await missingProgram(command, { path: PATH, cwd }))?.message
      } catch (error) {
        return (error as Error).message
      }
    },
    keepsHistory,
    countsTokens: settings.countsTokens,
    checkModel: (model) => (settings.isModel(model) ? undefined : badModel(command, model)),
    run,
  }
}

function valuesOf(turn: Turn, session: string | undefined): Values {
  const { runId, sessionKey, kind, model, thinking, systemPrompt, attempt, timeoutSeconds } = turn
  return {
    runId,
    sessionKey,
    kind,
    session,
    model,
    modelName: model?.slice(model.indexOf('/') + 1),
    thinking,
    systemPrompt,
    attempt: String(attempt),
    timeoutSeconds: timeoutSeconds === undefined ? undefined : String(Math.floor(timeoutSeconds)),
  }
}

/** Returns an id that can be stored and passed as an argument: short, and one line without control characters. */
function idOf(session: string | undefined): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters.
  return session !== undefined && session.length <= 1024 && !/[\u0000-\u001f\u007f]/.test(session)
    ? session
    : undefined
}

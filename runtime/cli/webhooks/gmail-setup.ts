/** `reveille webhooks gmail setup`: connects a mailbox, and writes it into the configuration. */

import path from 'node:path'
import { type Connection, isPluginError, type Kept, oneLine } from '@reveille/kit'
import { type Connector, connectorOf, PluginSetupError } from '../../plugin/index.ts'
import { createKept, createSourceClock, sourcesFolder } from '../../sources/index.ts'
import { findConfigurationIn } from '../authoring/init-target.ts'
import { CommandFailure } from '../command-failure.ts'
import { shownPath, usualFile } from '../configuration.ts'
import { type Io, paintFor } from '../io.ts'
import { pasted } from '../pasted.ts'
import type { Prompts } from '../prompts.ts'
import { createStopSignal } from '../stop-signal.ts'
import { type Advice, adviceFor } from './advice.ts'
import { readConfigured } from './configured.ts'
import { createPerson } from './person.ts'
import { ask } from './questions.ts'
import { createSteps, type Steps } from './steps.ts'
import { type GmailSetupOptions, wantedOf } from './wanted.ts'
import { writeConnection } from './write.ts'

type Values = Readonly<Record<string, unknown>>

/** @returns 1 where it could not be finished; the same command goes on from there */
export async function setUpGmail(options: GmailSetupOptions, given: Io): Promise<number> {
  const { json = false } = options
  const prompts = json ? undefined : await given.prompts?.()
  const steps = createSteps({ io: given, prompts, json })
  let io = given
  try {
    const wanted = await wantedOf(options, given)
    const file = findConfigurationIn(options.config, given)
    const shown = shownPath(file, given)
    // What is shown to be pasted names the file that was found.
    const { config: _config, ...rest } = given
    io = shown === usualFile ? rest : { ...given, config: shown }
    prompts?.begin('Gmail')
    const done = await setUp({ file, wanted, options, prompts, steps }, io)
    tell(done, { shown, json, prompts, steps }, io)
    return 0
  } catch (error) {
    const { code, message, exitCode } = told(error, io)
    if (json) io.out(`${JSON.stringify({ ok: false, code, message, steps: steps.all }, null, 2)}\n`)
    else io.err(`${prompts === undefined ? '' : '\n'}${message}\n`)
    return exitCode
  }
}

interface Task {
  readonly file: string
  readonly wanted: Values
  readonly options: GmailSetupOptions
  readonly prompts: Prompts | undefined
  readonly steps: Steps
}

interface Done {
  readonly mailbox: Values
  /** Milliseconds since the Unix epoch; where the plugin has written it down. */
  readonly watchEnds: number | undefined
  readonly changed: boolean
  readonly advice: Advice
}

async function setUp({ file, wanted, options, prompts, steps }: Task, io: Io): Promise<Done> {
  const found = await readConfigured(file, io)
  const { settings } = found.configuration
  const connector = await connectorOf('gmail', settings)
  const configured = { ...found, mailbox: usable(found.mailbox, connector) }
  const kept = createKept(path.join(sourcesFolder(settings.gateway.dataDir), 'gmail'))
  const known = { wanted, config: configured.mailbox, hasClient: await hasClient(kept) }
  const asked = prompts === undefined ? wanted : await ask(prompts, { ...known, ...connector }, io)
  const connection = await connect(asked)
  const { changed } = await writeConnection(file, connection, configured, steps, io)
  const { configuration } = await readConfigured(file, io)
  const advice = await adviceFor(configuration, String(connection.config['account']), io)
  for (const warning of advice.warnings) steps.warn(warning)
  return { mailbox: connection.config, watchEnds: await watchEndOf(kept), changed, advice }

  async function connect(wanted: Values): Promise<Connection> {
    const call = new AbortController()
    const stop =
      io.signals &&
      createStopSignal({ signals: io.signals, now: () => performance.now(), onInsist: () => {} })
    void stop?.first.then(() => call.abort(calledOff(io)))
    const person = createPerson({
      io,
      prompts,
      browser: options.browser !== false,
      callOff: () => call.abort(calledOff(io)),
    })
    try {
      return await connector.connect({
        config: configured.mailbox,
        wanted,
        kept,
        fetch: io.fetch,
        clock: createSourceClock(io.now),
        signal: call.signal,
        person,
        told: steps.told,
      })
    } catch (error) {
      // Whatever became of the step that was under way, the person knows why.
      if (call.signal.aborted) throw call.signal.reason
      throw isPluginError(error) ? error : unforeseen(error)
    } finally {
      stop?.close()
    }
  }
}

/** Nobody who sets a mailbox up can do anything with a stack. */
function unforeseen(error: unknown): CommandFailure {
  const why = error instanceof Error ? error.message : String(error)
  return new CommandFailure(1, `It failed unexpectedly: ${oneLine(why, 300)}`, { cause: error })
}

/** What is wrong in the configuration is said anew. */
function usable(mailbox: Values, { examine }: Connector): Values {
  const wrong = new Set(examine(mailbox).map(({ key }) => key.split('.')[2]))
  return Object.fromEntries(Object.entries(mailbox).filter(([key]) => !wrong.has(key)))
}

/** From a run before, which may not have come to its end. */
async function hasClient(kept: Kept): Promise<boolean> {
  const found = await Promise.all(['client', 'credentials'].map((name) => readOrNothing(kept, name)))
  return found.some((value) => value !== undefined)
}

async function watchEndOf(kept: Kept): Promise<number | undefined> {
  const cursor = (await readOrNothing(kept, 'cursor')) as
    | { readonly watch?: { readonly endsAt?: unknown } }
    | undefined
  const endsAt = cursor?.watch?.endsAt
  return typeof endsAt === 'number' ? endsAt : undefined
}

/** What is damaged is asked for anew. */
function readOrNothing(kept: Kept, name: string): Promise<unknown> {
  return kept.read(name).catch(() => undefined)
}

function calledOff(io: Io): CommandFailure {
  return new CommandFailure(
    1,
    `Called off. What was done is kept: ${pasted('webhooks gmail setup', io)} goes on from there.`,
  )
}

interface Told {
  readonly code: string
  readonly message: string
  readonly exitCode: number
}

/** @throws whatever nobody has foreseen */
function told(error: unknown, io: Io): Told {
  if (error instanceof CommandFailure) {
    return { code: 'failed', message: error.message, exitCode: error.exitCode }
  }
  if (error instanceof PluginSetupError) return { code: error.code, message: error.message, exitCode: 1 }
  if (!isPluginError(error)) throw error
  const again = `What was done is kept: ${pasted('webhooks gmail setup', io)} goes on from there.`
  return { code: error.code, message: `${error.message}\n${again}`, exitCode: 1 }
}

interface Telling {
  readonly shown: string
  readonly json: boolean
  readonly prompts: Prompts | undefined
  readonly steps: Steps
}

function tell(done: Done, { shown, json, prompts, steps }: Telling, io: Io): void {
  const { mailbox, watchEnds, changed, advice } = done
  const { account, topic, subscription, label, mode = 'pull' } = mailbox
  if (json) {
    const answer = {
      ok: true,
      account,
      project: /^projects\/([^/]+)\//.exec(String(topic))?.[1],
      topic,
      subscription,
      label: label ?? 'INBOX',
      mode,
      watchEnds,
      steps: steps.all,
      warnings: steps.warnings,
      configuration: { file: shown, changed },
    }
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
    return
  }
  const lines = [`${account} is set up.`, '', ...advice.next]
  if (prompts === undefined) io.out(`${lines.join('\n')}\n`)
  else {
    prompts.note(lines.join('\n'))
    prompts.end(paintFor(io).green('Done.'))
  }
}

/**
 * Defines what authors of transforms import: the types of a transform's context and result, and `prompt`. It is bundled
 * into every module that names it, so it imports nothing.
 */

// biome-ignore-start lint/suspicious/noExplicitAny: only the author knows the type of a payload
/** The context of a transform. Everything in it is a copy. */
export interface TransformContext<Payload = any, With = any> {
  /** The parsed body; integers beyond 2^53 are texts. Only the mapping's `match` and `schema` have checked it. */
  readonly payload: Payload
  /** Names are in lower case. A repeated header is one text, joined with `, `. The gateway's tokens are left out. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** A repeated name is a list. */
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The endpoint: the `<name>` of `/hooks/<name>`. */
  readonly path: string
  /** The values of the `:name` segments of `match.path`. */
  readonly params: Readonly<Record<string, string>>
  /** The mapping's `vars`, computed. */
  readonly vars: Readonly<Record<string, any>>
  /** The mapping's `transform.with` with its references resolved, frozen. Without any, an empty object. */
  readonly with: With
  /** The element of `forEach` for this action; `index` is its position from 0. Undefined without `forEach`. */
  readonly item: any
  readonly index: number | undefined
  /** When the request came in. */
  readonly now: Date
  /**
   * True if the result has no effect: in `try`, `explain`, `tests:`, the playground, and dry runs of a reload or a replay. Do not write
   * anywhere then. Except for tests, connections and other processes are refused, unless `--call-out` allows them.
   */
  readonly dryRun: boolean
  /** The body as received, decoded from gzip and the like. */
  readonly rawBody: Uint8Array
  /** The action as the mapping rendered it. */
  readonly base: BaseAction
}

/**
 * The action as the mapping rendered it. A field that the mapping does not have is undefined. It need not be spread
 * into a result: fields that a result does not name stay as they are, while a named `message` is a text of your own.
 */
export interface BaseAction extends Rendered {
  readonly action: 'wake' | 'agent'
}

type Rendered = {
  readonly [Field in keyof Omit<TransformAction, 'reply'>]: Exclude<TransformAction[Field], Prompt | null>
}

/**
 * Fields that replace the mapping's, one by one. A field that is absent or undefined keeps what the mapping rendered,
 * and null removes it.
 */
export interface TransformAction {
  /**
   * Another kind of action than the mapping's; the mapping's text or message is used for it unless a new one is given.
   * `null` means no action, like a result that is null, but with a `reply`.
   */
  readonly action?: 'wake' | 'agent' | null
  /** Wake: the event. A plain string is data as a whole; in a {@link prompt} the literals are your words. */
  readonly text?: string | Prompt | null
  /** Agent: the prompt. As `text`. */
  readonly message?: string | Prompt | null
  /** Wake: when the main session reads it. Default: `now`. */
  readonly mode?: 'now' | 'next-heartbeat' | null
  /** Agent: the name of the sender, for summaries. */
  readonly name?: string | Prompt | null
  /** Agent: a known key continues that conversation. Default: a new one. */
  readonly sessionKey?: string | Prompt | null
  /** Agent: when the main session reads the summary. Default: `now`. */
  readonly wakeMode?: 'now' | 'next-heartbeat' | null
  /** Agent: whether the reply is sent to a channel. Default: true. */
  readonly deliver?: boolean | null
  /** Agent: a configured channel, or `last`. Default: `last`. */
  readonly channel?: string | null
  /** Agent: an address of the channel. */
  readonly to?: string | null
  /** Agent: several targets, instead of `channel` and `to`. */
  readonly deliverTo?: readonly { readonly channel: string; readonly to?: string }[] | null
  /** Agent: `<provider>/<model>` or an alias. */
  readonly model?: string | null
  /** Agent: thinking level. */
  readonly thinking?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | null
  /** Agent: the timeout of the run in seconds, 1 to 86400. */
  readonly timeoutSeconds?: number | null
  /**
   * Sent to the sender, with status 200, in place of the gateway's own answer, once the request is stored: an object or
   * a list as JSON, a string as text, and one that begins with `<?xml` as XML. One for each request, 64 KiB at most.
   */
  readonly reply?: string | object | null
}

/**
 * `null` skips the request, `undefined` keeps what the mapping rendered, an object overrides fields of it, and a list
 * makes one action of each element.
 */
export type TransformResult =
  | TransformAction
  | readonly (TransformAction | null | undefined)[]
  | null
  | undefined

export type Transform<Payload = any> = (
  context: TransformContext<Payload>,
) => TransformResult | Promise<TransformResult>

/**
 * Gives a function the types of a transform, and returns the function itself. Type the payload where it is read,
 * `defineTransform(({ payload }: TransformContext<Push>) => …)`, and a misspelt field of the result is a type error
 * too; with `defineTransform<Push>(…)` TypeScript cannot see it, and the gateway refuses the result.
 */
export function defineTransform<
  Payload = any,
  Fn extends (context: TransformContext<Payload>) => Returned = (
    context: TransformContext<Payload>,
  ) => Returned,
>(
  transform: Fn & Checked<UnknownField<ReturnType<Fn>>>,
): (context: TransformContext<Payload>) => ReturnType<Fn>
export function defineTransform(transform: Transform): Transform {
  return transform
}

// biome-ignore lint/suspicious/noConfusingVoidType: what a function without a `return` gives
type Returned = TransformResult | void | Promise<TransformResult | void>

/**
 * TypeScript lets a function return unknown fields. Here they are an error that names the field. It is checked on the
 * inferred function, beside what gives the function its contextual type, because a condition within that type would
 * take completion away from the author of a result.
 */
type Checked<Unknown> = [Unknown] extends [never] ? unknown : NoSuchField<Unknown>

type UnknownField<Result> =
  Result extends Promise<infer Settled>
    ? UnknownField<Settled>
    : Result extends readonly (infer Element)[]
      ? UnknownField<Element>
      : Result extends object
        ? UnknownKey<Result, keyof TransformAction> | UnknownTarget<Result>
        : never

/** A target of `deliverTo` has a channel and an address. */
type UnknownTarget<Result> = Result extends { readonly deliverTo: infer Targets }
  ? Targets extends readonly (infer Target)[]
    ? `deliverTo[].${UnknownKey<Target, 'channel' | 'to'> & string}`
    : never
  : never

/** The unknown keys of a value. None are found for `any` and for maps with arbitrary keys. */
type UnknownKey<Value, Known> = string extends keyof Value ? never : Exclude<keyof Value, Known>

/** No action has a field of this name. */
interface NoSuchField<Name> {
  readonly noSuchField: Name
}

/**
 * Refuses the request: the sender is answered with this status and message, and the request is kept as failed, with its
 * body. Ends the transform, so `throw` before it is a matter of taste. One refusing element of a `forEach` refuses the
 * whole request.
 *
 * @param status 400 to 499, but 401, 407, 408 and 429, which say something about the sender or its connection
 * @param message for the sender; it is cut to one line of at most 300 characters
 * @throws always; RangeError for any other status
 */
export function refuse(status: number, message: string): never {
  const isFree = Number.isInteger(status) && status >= 400 && status <= 499
  const isOurs = [401, 407, 408, 429].includes(status)
  const thrown: Error & { [refusalBrand]?: number } =
    isFree && !isOurs
      ? Object.assign(new Error(String(message)), { name: 'Refusal', [refusalBrand]: status })
      : new RangeError(`refuse takes a status from 400 to 499 but 401, 407, 408 and 429, not ${status}`)
  // The reported line is the author's.
  const { captureStackTrace } = Error as { captureStackTrace?: (error: Error, below: unknown) => void }
  captureStackTrace?.(thrown, refuse)
  throw thrown
}

/** Returns the status of an error of {@link refuse}, or undefined for any other error. */
export function refusedStatus(thrown: unknown): number | undefined {
  const isHeld = typeof thrown === 'object' && thrown !== null && Object.hasOwn(thrown, refusalBrand)
  const status = isHeld ? (thrown as { [refusalBrand]: unknown })[refusalBrand] : undefined
  // Anyone can make such a symbol.
  return typeof status === 'number' && status >= 400 && status <= 499 && status % 1 === 0 ? status : undefined
}

/** A symbol of the global registry, like that of prompts. */
const refusalBrand: unique symbol = Symbol.for('reveille.refusal') as never

/**
 * Makes the context of a transform, for its tests: `transform(exampleContext({ payload: { … } }))`. Fields that are not
 * given are empty, `now` is 2026-01-01T00:00:00Z, and `rawBody` is the payload as JSON.
 */
export function exampleContext<Payload = any>(
  given: { readonly payload: Payload } & Partial<TransformContext<Payload>>,
): TransformContext<Payload> {
  return {
    headers: {},
    query: {},
    path: 'example',
    params: {},
    vars: {},
    with: {},
    item: undefined,
    index: undefined,
    now: new Date(Date.UTC(2026, 0)),
    dryRun: false,
    rawBody: new TextEncoder().encode(JSON.stringify(given.payload)),
    base: { action: 'agent' },
    ...given,
  }
}

// biome-ignore-end lint/suspicious/noExplicitAny: see above

/** A piece of a prompt: `literal` is the author's, and `value` came from outside, under the name `path`. */
export type PromptPart = { readonly literal: string } | { readonly value: string; readonly path: string }

/** A symbol of the global registry, because this module may be loaded twice. */
const brand = Symbol.for('reveille.prompt')

/** A text that keeps the author's words apart from those that came from outside. */
export interface Prompt {
  readonly parts: readonly PromptPart[]
  /** Returns the text without a boundary. */
  toString(): string
}

/**
 * The template tag of prompts. The literals are your words and stay instructions. Every value is data, and a value that
 * is not short and harmless is moved into a fenced block below the message. An absent or null value is nothing, an
 * object is compact JSON, a prompt within a prompt keeps its literals, and a list of prompts has one on each line.
 */
export function prompt(literals: TemplateStringsArray, ...values: readonly unknown[]): Prompt {
  const name = createNames()
  return makePrompt(
    literals.flatMap((literal, index) => [
      ...(literal === '' ? [] : [{ literal }]),
      ...(index < values.length ? partsOf(values[index], name) : []),
    ]),
  )
}

/**
 * Joins prompts, and values as in a prompt, with the author's `separator` between them. Default: a line break. Absent
 * and null elements are left out, with their separator.
 */
prompt.join = (list: readonly unknown[], separator = '\n'): Prompt =>
  makePrompt(joined(list, separator, createNames()))

export function isPrompt(value: unknown): value is Prompt {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, brand)
}

/** Shared by all prompts, so that prompts of the same text are deeply equal. */
function toText(this: Prompt): string {
  return this.parts.map((part) => ('literal' in part ? part.literal : part.value)).join('')
}

function makePrompt(parts: readonly PromptPart[]): Prompt {
  const made = { parts: Object.freeze(parts), toString: toText }
  return Object.freeze(Object.defineProperty(made, brand, { value: true }))
}

type Names = () => string

function createNames(): Names {
  let count = 0
  return () => `value ${++count}`
}

function partsOf(value: unknown, name: Names): readonly PromptPart[] {
  // The values of an inner prompt get new numbers, since two values of one name would become one block.
  if (isPrompt(value))
    return value.parts.map((part) => ('literal' in part ? part : { ...part, path: name() }))
  if (Array.isArray(value) && value.some(isPrompt)) return joined(value, '\n', name)
  const text = promptText(value)
  return text === '' ? [] : [{ value: text, path: name() }]
}

function joined(list: readonly unknown[], separator: string, name: Names): readonly PromptPart[] {
  const present = list.filter((each) => each !== undefined && each !== null)
  return present.flatMap((each, index) => [
    ...(index > 0 && separator !== '' ? [{ literal: separator }] : []),
    ...partsOf(each, name),
  ])
}

function promptText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value)
}

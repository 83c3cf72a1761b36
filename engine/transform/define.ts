/**
 * Defines what authors of transforms import: the types of a transform's context and result, and `prompt`. It is
 * bundled into every module that names it, so it imports nothing.
 */

// biome-ignore-start lint/suspicious/noExplicitAny: only the author knows the type of a payload
/** What a transform is given. Everything in it is the transform's own copy. */
export interface TransformContext<Payload = any, With = any> {
  /** The parsed body; integers beyond 2^53 are texts. Nothing has checked it but the mapping's `match` and `schema`. */
  readonly payload: Payload
  /** Names in lower case; one that came several times is one text, joined with `, `. The gateway's tokens are left out. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** A name that came several times is a list. */
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The endpoint: the `<name>` of `/hooks/<name>`. */
  readonly path: string
  /** What the `:name` segments of `match.path` stand for. */
  readonly params: Readonly<Record<string, string>>
  /** The mapping's `vars`, computed. */
  readonly vars: Readonly<Record<string, any>>
  /** What the mapping says under `transform.with`, its references resolved; frozen. Without any, an empty object. */
  readonly with: With
  /** The element of `forEach` that this action is for, and its position from 0; undefined without `forEach`. */
  readonly item: any
  readonly index: number | undefined
  /** When the request came in. */
  readonly now: Date
  /** The body as received, decoded from gzip and the like. */
  readonly rawBody: Uint8Array
  /** The action as the mapping rendered it. */
  readonly base: BaseAction
}

/**
 * The action as the mapping rendered it; a field that the mapping does not have is undefined. Need not be spread into
 * a result: what a result does not name stays as it is, while a `message` that is named is a text of your own.
 */
export interface BaseAction extends Rendered {
  readonly action: 'wake' | 'agent'
}

type Rendered = {
  readonly [Field in keyof Omit<TransformAction, 'reply'>]: Exclude<TransformAction[Field], Prompt | null>
}

/**
 * Fields that take the place of the mapping's, one by one. One that is absent or undefined keeps what the mapping
 * rendered, null takes it away.
 */
export interface TransformAction {
  /**
   * Another kind of action than the mapping's; its text or message comes along unless a new one is given. `null`: no
   * action, as for a result that is null, but with a `reply`.
   */
  readonly action?: 'wake' | 'agent' | null
  /** Wake: the event. A plain string is data as a whole; in a {@link prompt} the literals are your words. */
  readonly text?: string | Prompt | null
  /** Agent: the prompt. As `text`. */
  readonly message?: string | Prompt | null
  /** Wake: when it is looked at. Default: `now`. */
  readonly mode?: 'now' | 'next-heartbeat' | null
  /** Agent: who asks, for summaries. */
  readonly name?: string | Prompt | null
  /** Agent: reusing one continues that conversation. Default: a new one. */
  readonly sessionKey?: string | Prompt | null
  /** Agent: when the summary is looked at. Default: `now`. */
  readonly wakeMode?: 'now' | 'next-heartbeat' | null
  /** Agent: whether the reply goes to a channel. Default: true. */
  readonly deliver?: boolean | null
  /** Agent: a configured channel, or `last`. Default: `last`. */
  readonly channel?: string | null
  /** Agent: an address of the channel. */
  readonly to?: string | null
  /** Agent: several channels, instead of `channel` and `to`. */
  readonly deliverTo?: readonly { readonly channel: string; readonly to?: string }[] | null
  /** Agent: `<provider>/<model>` or an alias. */
  readonly model?: string | null
  /** Agent: how much the model thinks. */
  readonly thinking?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | null
  /** Agent: time for the run in seconds, 1 to 86400. */
  readonly timeoutSeconds?: number | null
  /**
   * What the sender reads, with status 200, in place of the gateway's own answer, once the request is kept: an object or
   * a list as JSON, a string as text, one that begins with `<?xml` as XML. Of one request, one; 64 KiB at most.
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
 * Gives a function the types of a transform, and is otherwise the function itself. Type the payload where it is read,
 * `defineTransform(({ payload }: TransformContext<Push>) => …)`, and a misspelt field of the result is a type error
 * too; with `defineTransform<Push>(…)` TypeScript cannot see it, and the gateway refuses it when it is called.
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
 * TypeScript lets a function return more than it is asked for; here that is an error which names the field. It is
 * asked of the inferred function, beside what gives the function its contextual type: a condition within that type
 * would take completion away from the author of a result.
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

/** The keys of a value that are not known. None are found for `any` and for maps with arbitrary keys. */
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

/** The status of what {@link refuse} threw; undefined for any other error. */
export function refusedStatus(thrown: unknown): number | undefined {
  const isHeld = typeof thrown === 'object' && thrown !== null && Object.hasOwn(thrown, refusalBrand)
  return isHeld ? (thrown as { [refusalBrand]: number })[refusalBrand] : undefined
}

/** A symbol of the global registry, like that of prompts. */
const refusalBrand: unique symbol = Symbol.for('reveille.refusal') as never

/**
 * What a transform is given, for its tests: `transform(exampleContext({ payload: { … } }))`. What is not named is
 * empty, `now` is 2026-01-01T00:00:00Z, and `rawBody` is the payload as JSON.
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
    rawBody: new TextEncoder().encode(JSON.stringify(given.payload)),
    base: { action: 'agent' },
    ...given,
  }
}

// biome-ignore-end lint/suspicious/noExplicitAny: see above

/** A piece of a prompt: `literal` is the author's, `value` came from outside, under the name `path`. */
export type PromptPart = { readonly literal: string } | { readonly value: string; readonly path: string }

/** A symbol of the global registry, because this module may be loaded twice. */
const brand = Symbol.for('reveille.prompt')

/** A text that knows which of its words are the author's and which came from outside. */
export interface Prompt {
  readonly parts: readonly PromptPart[]
  /** As if there were no boundary. */
  toString(): string
}

/**
 * The template tag of prompts. The literals are your words and stay instructions; every value is data, and what is not
 * short and harmless is moved into a fenced block behind the message. A value that is absent or null is nothing, an
 * object is compact JSON, a prompt within a prompt keeps its literals, and a list that holds prompts is one of them a
 * line.
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
 * Prompts, and values as in a prompt, with the author's `separator` between them. Default: a line break. What is absent
 * or null is left out, with its separator.
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

/**
 * Owns what authors of transforms import: the types of what a transform is given and may answer, and `prompt`. It is
 * bundled into every module that names it, so it imports nothing.
 */

// biome-ignore-start lint/suspicious/noExplicitAny: what a payload looks like is the author's knowledge
/** What a transform is given. Everything in it is the transform's own copy. */
export interface TransformContext<Payload = any> {
  /** The parsed body; integers beyond 2^53 are texts. Nothing has checked it but the mapping's `match` and `schema`. */
  readonly payload: Payload
  /** Names in lower case; a header that came several times is one text, joined with `, `. Tokens are left out. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The endpoint: the `<name>` of `/hooks/<name>`. */
  readonly path: string
  /** What the `:name` segments of `match.path` stand for. */
  readonly params: Readonly<Record<string, string>>
  /** The mapping's `vars`, computed. */
  readonly vars: Readonly<Record<string, unknown>>
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

/** The action as the mapping rendered it; a field that the mapping does not have is undefined. */
export interface BaseAction extends Readonly<Partial<Record<TransformField, unknown>>> {
  readonly action: 'wake' | 'agent'
  readonly text?: string
  readonly message?: string
  readonly deliverTo?: readonly { readonly channel: unknown; readonly to?: unknown }[]
}

type TransformField =
  | 'text'
  | 'mode'
  | 'message'
  | 'name'
  | 'sessionKey'
  | 'wakeMode'
  | 'deliver'
  | 'channel'
  | 'to'
  | 'model'
  | 'thinking'
  | 'timeoutSeconds'

/**
 * Fields that take the place of the mapping's, one by one. One that is absent or undefined keeps what the mapping
 * rendered, null takes it away.
 */
export interface TransformAction {
  /** Another kind of action than the mapping's; its text or message comes along unless a new one is given. */
  readonly action?: 'wake' | 'agent'
  /** Wake: the event. A plain string is data as a whole; in a {@link prompt} the literals are your words. */
  readonly text?: string | Prompt | null
  /** Agent: what the agent is asked. As `text`. */
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

/** Gives a function the types of a transform, and is otherwise the function itself. */
export function defineTransform<Payload = any>(transform: Transform<Payload>): Transform<Payload> {
  return transform
}

// biome-ignore-end lint/suspicious/noExplicitAny: see above

/** A piece of a prompt: `literal` is the author's, `value` came from outside, under the name `path`. */
export type PromptPart = { readonly literal: string } | { readonly value: string; readonly path: string }

/** The registry's symbol: a module and this one may have been loaded twice. */
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
 * object is compact JSON, a prompt within a prompt keeps its literals, and so does a list of prompts, one a line.
 */
export function prompt(literals: TemplateStringsArray, ...values: readonly unknown[]): Prompt {
  const parts: PromptPart[] = []
  let count = 0
  const name = () => `value ${++count}`
  for (const [index, literal] of literals.entries()) {
    if (literal !== '') parts.push({ literal })
    if (index < values.length) parts.push(...partsOf(values[index], name))
  }
  return makePrompt(parts)
}

/** Prompts, and values as in a prompt, with the author's `separator` between them. Default: a line break. */
prompt.join = (list: readonly unknown[], separator = '\n'): Prompt => {
  const parts: PromptPart[] = []
  let count = 0
  for (const [index, value] of list.entries()) {
    if (index > 0 && separator !== '') parts.push({ literal: separator })
    parts.push(...partsOf(value, () => `value ${++count}`))
  }
  return makePrompt(parts)
}

export function isPrompt(value: unknown): value is Prompt {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, brand)
}

function makePrompt(parts: readonly PromptPart[]): Prompt {
  const made = {
    parts: Object.freeze(parts),
    toString: () => parts.map((part) => ('literal' in part ? part.literal : part.value)).join(''),
  }
  return Object.freeze(Object.defineProperty(made, brand, { value: true }))
}

function partsOf(value: unknown, name: () => string): readonly PromptPart[] {
  // Within another prompt its values are numbered anew: two of one name would be one block.
  if (isPrompt(value))
    return value.parts.map((part) => ('literal' in part ? part : { ...part, path: name() }))
  if (Array.isArray(value) && value.length > 0 && value.every(isPrompt)) {
    return value.flatMap((each, index) => [...(index > 0 ? [{ literal: '\n' }] : []), ...partsOf(each, name)])
  }
  const text = textOf(value)
  return text === '' ? [] : [{ value: text, path: name() }]
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value)
}

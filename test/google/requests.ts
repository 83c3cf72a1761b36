/**
 * Lists the requests that the fake Google answers, and checks a request against its row. The compiler compares the names
 * and types of each row with the client that Google generates for Gmail.
 */

import type { gmail_v1 } from '@googleapis/gmail'

type Kind = 'text' | 'integer' | 'boolean' | readonly string[] | { readonly list: Kind }
type KindOf<Value> = Value extends string
  ? 'text' | readonly string[]
  : Value extends number
    ? 'integer'
    : Value extends boolean
      ? 'boolean'
      : Value extends readonly (infer Item)[]
        ? { list: KindOf<NonNullable<Item>> }
        : never
type KindsOf<Query> = { readonly [Name in keyof Query]?: KindOf<NonNullable<Query[Name]>> }

export type Values = Readonly<Record<string, unknown>>

/** Returns the JSON of the answer. @throws Refusal */
export type Handler = (request: {
  /** The groups of the row's path: the mailbox, and what is below it. */
  readonly path: readonly string[]
  readonly query: Values
  /** The account that consented. */
  readonly account: string
}) => object

export interface Row {
  /** Matches a path; its first group is the mailbox. */
  readonly path: RegExp
  readonly query: Readonly<Record<string, Kind>>
  readonly required: readonly string[]
}

/** Any one of these scopes is enough for each call. */
export const mailScopes = [
  ...['gmail.readonly', 'gmail.modify', 'gmail.metadata'].map(
    (name) => `https://www.googleapis.com/auth/${name}`,
  ),
  'https://mail.google.com/',
]

/** A call by GET. https://developers.google.com/workspace/gmail/api/reference/rest */
function row<Query>(
  path: string,
  query: KindsOf<Query> = {},
  required: readonly (keyof Query & string)[] = [],
): Row {
  const pattern = new RegExp(`^/gmail/gmail/v1/users/([^/]+)/${path}$`)
  return { path: pattern, query: query as Row['query'], required }
}

export const rows: Readonly<Record<string, Row>> = {
  'gmail.users.getProfile': row('profile'),
  'gmail.users.labels.list': row('labels'),
  'gmail.users.history.list': row<gmail_v1.Params$Resource$Users$History$List>(
    'history',
    {
      startHistoryId: 'text',
      labelId: 'text',
      historyTypes: { list: ['messageAdded', 'messageDeleted', 'labelAdded', 'labelRemoved'] },
      maxResults: 'integer',
      pageToken: 'text',
    },
    ['startHistoryId'],
  ),
  'gmail.users.messages.list': row<gmail_v1.Params$Resource$Users$Messages$List>('messages', {
    labelIds: { list: 'text' },
    q: 'text',
    includeSpamTrash: 'boolean',
    maxResults: 'integer',
    pageToken: 'text',
  }),
  'gmail.users.messages.get': row<gmail_v1.Params$Resource$Users$Messages$Get>('messages/([^/]+)', {
    format: ['full', 'metadata', 'minimal', 'raw'],
    metadataHeaders: { list: 'text' },
  }),
}

/** Returns the query as values of their kinds; those of an unknown name or kind stay strings. */
export function readQuery({ query: kinds }: Row, query: URLSearchParams): Values {
  const read = (kind: Kind | undefined, text: string) => {
    if (kind === 'integer' && /^\d+$/.test(text)) return Number(text)
    return kind === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text
  }
  const entries = [...new Set(query.keys())].map((name) => {
    const texts = query.getAll(name)
    const kind = kinds[name]
    const list = typeof kind === 'object' && 'list' in kind ? kind.list : undefined
    if (list === undefined && texts.length === 1) return [name, read(kind, texts[0] ?? '')]
    return [name, texts.map((text) => read(list, text))]
  })
  return Object.fromEntries(entries)
}

/** Returns what is wrong with a request, in about Google's words. */
export function mistakesIn({ query: kinds, required }: Row, values: Values): string[] {
  const wrong = Object.entries(values).flatMap(([name, value]) => {
    const kind = kinds[name]
    return kind === undefined
      ? [`Unknown name "${name}": Cannot find field.`]
      : isOfKind(value, kind)
        ? []
        : [`Invalid value at '${name}', ${JSON.stringify(value)}`]
  })
  const missing = required.filter((name) => (values[name] ?? '') === '')
  return [...wrong, ...missing.map((name) => `Missing required field: ${name}`)]
}

function isOfKind(value: unknown, kind: Kind): boolean {
  if (typeof kind === 'object' && 'list' in kind)
    return Array.isArray(value) && value.every((each) => isOfKind(each, kind.list))
  if (kind === 'integer') return Number.isInteger(value)
  if (kind === 'boolean') return typeof value === 'boolean'
  return typeof value === 'string' && (kind === 'text' || kind.includes(value))
}

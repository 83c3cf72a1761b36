/**
 * Lists the requests that the fake Google answers, and checks a request against its row. The compiler compares the names
 * and types of each row with Google's own descriptions: the client that it generates for Gmail, and the typings of
 * Pub/Sub's discovery document.
 */

/// <reference types="@maxim_mazurok/gapi.client.pubsub-v1" />

import type { gmail_v1 } from '@googleapis/gmail'

export type Service = 'gmail' | 'pubsub'

type Kind = 'text' | 'integer' | 'boolean' | readonly string[] | { list: Kind } | Shape
interface Shape {
  readonly fields: Readonly<Record<string, Kind>>
}

type KindOf<Value> = Value extends string
  ? 'text' | readonly string[]
  : Value extends number
    ? 'integer'
    : Value extends boolean
      ? 'boolean'
      : Value extends readonly (infer Item)[]
        ? { list: KindOf<NonNullable<Item>> }
        : { fields: FieldsOf<Value> }
type FieldsOf<Value> = { readonly [Name in keyof Value]?: KindOf<NonNullable<Value[Name]>> }

/** Returns the JSON of the answer; undefined is an empty answer, 204. @throws Refusal */
export type Handler = (request: {
  /** The groups of the row's path: the mailbox or resource, and what is below it. */
  readonly path: readonly string[]
  readonly query: Values
  // biome-ignore lint/suspicious/noExplicitAny: it has the shape of its row.
  readonly body: any
  /** The account that consented. */
  readonly account: string
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal
}) => object | undefined | Promise<object | undefined>

export interface Row {
  readonly method: string
  /** Matches a path; its group is the resource. */
  readonly path: RegExp
  /** Any one of these scopes is enough. */
  readonly scopes: readonly string[]
  readonly query: Shape['fields']
  /** Absent where no body belongs. */
  readonly body?: Shape
  readonly required: readonly string[]
}

const auth = (...names: readonly string[]) => names.map((name) => `https://www.googleapis.com/auth/${name}`)
const mail = [...auth('gmail.readonly', 'gmail.modify', 'gmail.metadata'), 'https://mail.google.com/']

interface Described<Query, Body> {
  readonly query?: FieldsOf<Query>
  readonly body?: FieldsOf<Body>
  readonly required?: readonly ((keyof Query | keyof Body) & string)[]
}

function row<Query, Body>(
  method: string,
  path: RegExp,
  scopes: readonly string[],
  { query = {}, body, required = [] }: Described<Query, Body>,
): Row {
  const shape = body && { body: { fields: body as Shape['fields'] } }
  return { method, path, scopes, query: query as Shape['fields'], required, ...shape }
}

/** https://developers.google.com/workspace/gmail/api/reference/rest */
const ofMailbox = <Query, Body = object>(
  method: string,
  path: string,
  described: Described<Query, Body> = {},
) => row(method, new RegExp(`^/gmail/v1/users/([^/]+)/${path}$`), mail, described)

/** https://cloud.google.com/pubsub/docs/reference/rest */
const ofResource = <Body, Query = object>(
  method: string,
  path: string,
  described: Described<Query, Body> = {},
) => row(method, new RegExp(`^/v1/(projects/[^/]+/${path}$`), auth('cloud-platform', 'pubsub'), described)

const pushConfig = {
  fields: { pushEndpoint: 'text', oidcToken: { fields: { serviceAccountEmail: 'text', audience: 'text' } } },
} as const
const condition = { fields: { title: 'text', expression: 'text', description: 'text' } } as const
const binding = { fields: { role: 'text', members: { list: 'text' }, condition } } as const

type PolicyQuery = Parameters<gapi.client.pubsub.TopicsResource['getIamPolicy']>[0]
const topics = 'topics/[^/:]+)'
const subscriptions = 'subscriptions/[^/:]+)'

export const rows: Readonly<Record<string, Row>> = {
  'gmail.users.getProfile': ofMailbox('GET', 'profile'),
  'gmail.users.labels.list': ofMailbox('GET', 'labels'),
  'gmail.users.stop': ofMailbox('POST', 'stop'),
  'gmail.users.watch': ofMailbox<object, gmail_v1.Schema$WatchRequest>('POST', 'watch', {
    body: { topicName: 'text', labelIds: { list: 'text' }, labelFilterBehavior: ['include', 'exclude'] },
    required: ['topicName'],
  }),
  'gmail.users.history.list': ofMailbox<gmail_v1.Params$Resource$Users$History$List>('GET', 'history', {
    query: {
      startHistoryId: 'text',
      labelId: 'text',
      historyTypes: { list: ['messageAdded', 'messageDeleted', 'labelAdded', 'labelRemoved'] },
      maxResults: 'integer',
      pageToken: 'text',
    },
    required: ['startHistoryId'],
  }),
  'gmail.users.messages.list': ofMailbox<gmail_v1.Params$Resource$Users$Messages$List>('GET', 'messages', {
    query: {
      labelIds: { list: 'text' },
      q: 'text',
      includeSpamTrash: 'boolean',
      maxResults: 'integer',
      pageToken: 'text',
    },
  }),
  'gmail.users.messages.get': ofMailbox<gmail_v1.Params$Resource$Users$Messages$Get>(
    'GET',
    'messages/([^/]+)',
    { query: { format: ['full', 'metadata', 'minimal', 'raw'], metadataHeaders: { list: 'text' } } },
  ),
  'pubsub.projects.topics.create': ofResource<gapi.client.pubsub.Topic>('PUT', topics, { body: {} }),
  'pubsub.projects.topics.get': ofResource('GET', topics),
  'pubsub.projects.topics.getIamPolicy': ofResource<object, PolicyQuery>('GET', `${topics}:getIamPolicy`, {
    query: { 'options.requestedPolicyVersion': 'integer' },
  }),
  'pubsub.projects.topics.setIamPolicy': ofResource<gapi.client.pubsub.SetIamPolicyRequest>(
    'POST',
    `${topics}:setIamPolicy`,
    {
      body: { policy: { fields: { bindings: { list: binding }, etag: 'text', version: 'integer' } } },
      required: ['policy'],
    },
  ),
  'pubsub.projects.subscriptions.create': ofResource<gapi.client.pubsub.Subscription>('PUT', subscriptions, {
    body: {
      topic: 'text',
      ackDeadlineSeconds: 'integer',
      expirationPolicy: { fields: { ttl: 'text' } },
      pushConfig,
    },
    required: ['topic'],
  }),
  'pubsub.projects.subscriptions.get': ofResource('GET', subscriptions),
  'pubsub.projects.subscriptions.modifyPushConfig': ofResource<gapi.client.pubsub.ModifyPushConfigRequest>(
    'POST',
    `${subscriptions}:modifyPushConfig`,
    { body: { pushConfig }, required: ['pushConfig'] },
  ),
  'pubsub.projects.subscriptions.pull': ofResource<gapi.client.pubsub.PullRequest>(
    'POST',
    `${subscriptions}:pull`,
    { body: { maxMessages: 'integer' }, required: ['maxMessages'] },
  ),
  'pubsub.projects.subscriptions.acknowledge': ofResource<gapi.client.pubsub.AcknowledgeRequest>(
    'POST',
    `${subscriptions}:acknowledge`,
    { body: { ackIds: { list: 'text' } }, required: ['ackIds'] },
  ),
  'pubsub.projects.subscriptions.modifyAckDeadline': ofResource<gapi.client.pubsub.ModifyAckDeadlineRequest>(
    'POST',
    `${subscriptions}:modifyAckDeadline`,
    {
      body: { ackIds: { list: 'text' }, ackDeadlineSeconds: 'integer' },
      required: ['ackIds', 'ackDeadlineSeconds'],
    },
  ),
}

export type Values = Readonly<Record<string, unknown>>

/** Returns the query as values of their kinds; those of an unknown name or kind stay texts. */
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

/** Returns what is wrong with a request, in about Google's words. `body` is undefined if the request has none. */
export function mistakesIn({ query, body: shape, required }: Row, values: Values, body: unknown): string[] {
  const given: Values = { ...values, ...(body as object | undefined) }
  const isEmpty = (name: string) => {
    const value = given[name] ?? ''
    return value === '' || (Array.isArray(value) && value.length === 0)
  }
  return [
    ...mistakesOf(values, { fields: query }, ''),
    ...(shape === undefined && body === undefined ? [] : mistakesOf(body ?? {}, shape ?? { fields: {} }, '')),
    ...required.filter(isEmpty).map((name) => `Missing required field: ${name}`),
  ]
}

function mistakesOf(value: unknown, kind: Kind, at: string): string[] {
  if (typeof kind === 'object' && 'fields' in kind) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [invalid(value, at)]
    return Object.entries(value).flatMap(([name, each]) => {
      const field = kind.fields[name]
      const path = at === '' ? name : `${at}.${name}`
      return field === undefined
        ? [`Unknown name "${path}": Cannot find field.`]
        : mistakesOf(each, field, path)
    })
  }
  if (typeof kind === 'object' && 'list' in kind) {
    if (!Array.isArray(value)) return [invalid(value, at)]
    return value.flatMap((each, index) => mistakesOf(each, kind.list, `${at}[${index}]`))
  }
  const isOfKind =
    kind === 'integer'
      ? Number.isInteger(value)
      : kind === 'boolean'
        ? typeof value === 'boolean'
        : typeof value === 'string' && (kind === 'text' || kind.includes(value))
  return isOfKind ? [] : [invalid(value, at)]
}

function invalid(value: unknown, at: string): string {
  return `Invalid value at '${at}', ${JSON.stringify(value)}`
}

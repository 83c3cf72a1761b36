/** `reveille list`, `reveille show` and the commands that are named by a kind: list what a running gateway holds, or show one record whole. */

import { stringify } from 'yaml'
import type { Answer } from '../../api/routes/client.ts'
import { printable } from '../../observe/printable.ts'
import { type Client, openClient } from '../client.ts'
import { badUsage, failure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { isEmpty, isTime, listed, print, shellWord, shortId, shortTime } from '../print.ts'
import { utf8Of } from '../request-file.ts'
import { holdText } from '../status-text.ts'
import { flagOf, queryOf, refuseOther } from './filters.ts'
import { generationNotes, showGeneration } from './generations.ts'
import { itemsText, type Kind, type KindName, kinds } from './kinds.ts'

const listOptions = ['limit', 'cursor', 'all'] as const
const showOptions = ['body', 'raw', 'asTest', 'with'] as const

/** Lists one page of a kind, with the command for the next one. */
export async function list(name: KindName, io: Io, options: CommandOptions): Promise<number> {
  const { limit, cursor, all = false } = options
  const { filters, list: route }: Kind = kinds[name]
  const [other] = showOptions.filter((each) => options[each])
  if (other !== undefined) throw badUsage(`Name the record: ${flagOf(other)} goes with an id.`)
  if (all && name !== 'issues') throw badUsage('--all is for issues.')
  refuseOther(options, filters, name)
  const states = filters.get('state')?.enum
  if (options.state !== undefined && !states?.includes(options.state))
    throw badUsage(`--state of ${name} is one of ${states?.join(', ')}.`)
  const client = await openClient(io)
  const query = {
    limit,
    cursor,
    ...(name === 'issues' && !all && { state: 'open' }),
    ...queryOf(io, options),
  }
  const page = (await client.ask(route, { query: query as never })) as Answer<'listRuns'>
  const items = page.items as readonly never[]
  print(io, page, () => {
    if (items.length === 0) return name === 'issues' && !all ? 'No issue is open.' : `No ${name}.`
    return `${itemsText(name, items, io)}${name === 'generations' ? generationNotes(items) : ''}`
  })
  if (!io.json && page.next !== undefined) {
    const given = { ...options, cursor: page.next }
    const words = Object.entries(given).map(([option, value]) =>
      value === true ? flagOf(option) : `${flagOf(option)} ${shellWord(String(value))}`,
    )
    io.err(`More: ${['reveille', 'list', name, ...words].join(' ')}\n`)
  }
  return 0
}

/** Shows what a text names: a record of this kind before any other. */
export async function show(text: string, io: Io, options: CommandOptions, name?: KindName): Promise<number> {
  const { raw = false } = options
  const [other] = listOptions.filter((each) => options[each] !== undefined)
  if (other !== undefined) throw badUsage(`An id names one record; ${flagOf(other)} is for lists.`)
  refuseOther(options, new Map(), 'an id, which names one record')
  if (raw && !io.json && io.columns !== undefined)
    throw badUsage('--raw writes the bytes as they came: send them to a file, as in … --raw > body.json.')
  const client = await openClient(io)
  if (name === 'generations') return showGeneration(client, Number(text), io, options)
  const { kind, id } = await find(client, text, name && singular(name))
  const found = plural(kind)
  if (options.asTest) return showTest(client, id, io)
  if (options.body || raw) return showBody(client, id, raw, io)
  if (name !== undefined && found !== name) io.err(`${text} names one of the ${found}.\n`)
  if (kind === 'generation') return showGeneration(client, Number(id), io, options)
  const { read }: Kind = kinds[found]
  const record: object = await client.ask(read ?? 'readRun', { params: { id, key: id } })
  if (kind === 'session') return showSession(record as never, io)
  const waits = kind === 'delivery' ? await waitsFor(client, record as never, io) : undefined
  const next = stepsFor(kind, record as never)
    .map((verb) => `reveille ${verb.replace('ID', shortId(id))}`)
    .join(' | ')
  return print(io, record, () => formatRecord({ ...(next && { next }), waits, ...record }))
}

/** Formats one whole record as YAML: times as ISO 8601, without what is empty, each line printable. */
function formatRecord(record: object): string {
  const shown = new Set<string>()
  const text = stringify(
    record,
    (_name, value) => {
      if (isEmpty(value)) return undefined
      // A reply is the text of each of its deliveries.
      if (shown.has(value)) return '(as above)'
      if (typeof value === 'string' && value.includes('\n')) shown.add(value)
      if (Array.isArray(value) && value.length > maxItems)
        return [...value.slice(-maxItems), `and ${value.length - maxItems} before`]
      // A control character would make YAML quote a whole text in one line.
      if (typeof value === 'string') return linesOf(value).map(printable).join('\n')
      return isTime(value) ? new Date(value).toISOString() : value
    },
    { lineWidth: 0, blockQuote: 'literal' },
  )
  return text.split('\n').map(printable).join('\n')
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|[\r\n]/)
}

/** The newest items of a list that are shown, such as the requests of a coalesced group. */
const maxItems = 20

/** The commands with which an operator may go on. */
function stepsFor(
  kind: FoundRecord['kind'],
  record: { readonly bodyKept?: boolean; readonly state?: string },
) {
  const { bodyKept = false, state = '' } = record
  if (kind === 'request') return bodyKept ? ['show ID --body', 'replay ID'] : []
  if (kind === 'delivery') return state === 'parked' ? ['replay ID'] : []
  if (kind !== 'run') return []
  if (state === 'parked') return ['resume ID', 'cancel ID']
  return state === 'failed' || state === 'timed-out' ? ['retry ID'] : []
}

type FoundRecord = Answer<'find'>['items'][number]

function plural(kind: FoundRecord['kind']): KindName {
  return kind === 'delivery' ? 'deliveries' : `${kind}s`
}

function singular(name: KindName): string {
  return name === 'deliveries' ? 'delivery' : name.slice(0, -1)
}

/**
 * Finds what a text names: an id, the end of one, a sender's id of a delivery, a session's key or a generation.
 * @throws CommandFailure where it names nothing of the kind or else, or several things
 */
export async function find(
  client: Client,
  text: string,
  ...wanted: readonly (string | undefined)[]
): Promise<FoundRecord> {
  const { items } = await client.ask('find', { query: { q: text } })
  const meant = items.filter(({ kind }) => wanted.includes(kind))
  const [found, other] = meant.length > 0 ? meant : items
  // No request may have met a generation, by which it would be found.
  if (found === undefined && /^[1-9]\d{0,8}$/.test(text)) return { kind: 'generation', id: text }
  if (found === undefined)
    throw failure(`Nothing is called ${text}: give an id whole, or at least its last 4 characters.`)
  if (other === undefined) return found
  const names = listed(
    (meant.length > 0 ? meant : items).map(
      ({ kind, id }) => `${kind} ${kind === 'session' ? id : shortId(id)}`,
    ),
  )
  throw failure(`"${text}" names several records: ${names}. Give the id of one.`)
}

/** Finds a record of one kind. @throws CommandFailure where there is none of it */
export async function findOne(client: Client, kind: FoundRecord['kind'], text: string): Promise<string> {
  const found = await find(client, text, kind)
  if (found.kind === kind) return found.id
  throw failure(`${text} names a ${found.kind}, and no ${kind}.`)
}

/** Reason why the channel of a pending delivery is held, which concerns all its deliveries. */
export async function waitsFor(
  client: Client,
  { state, channel }: Answer<'readDelivery'>,
  io: Io,
): Promise<string | undefined> {
  if (state !== 'pending') return undefined
  const { channels } = await client.ask('readStatus')
  return holdText(
    channels.find((status) => status.channel === channel),
    io.now(),
  )
}

function showSession(session: Answer<'readSession'>, io: Io): number {
  return print(io, session, () =>
    session.messages
      .map(({ role, text, at, turn }) => {
        const lines = text.split(/\r?\n/).map((line) => `  ${printable(line)}`.trimEnd())
        return [`${shortTime(at, io.now())}  ${role}  run ${shortId(turn)}`, ...lines, ''].join('\n')
      })
      .join('\n'),
  )
}

/** A terminal is shown printable text only: the body is an unauthenticated client's, and could steer it. */
async function showBody(client: Client, id: string, raw: boolean, io: Io): Promise<number> {
  const bytes = await client.bytes('readRequestBody', { params: { id }, query: raw ? { raw } : {} })
  const text = utf8Of(bytes)
  const buffer = Buffer.from(bytes)
  if (io.json) {
    const content = text === undefined ? { base64: buffer.toString('base64') } : { text }
    print(io, { id, bytes: bytes.length, ...content }, () => '')
  } else if (io.columns === undefined && io.outBytes) io.outBytes(bytes)
  else if (io.columns === undefined) io.out(buffer.toString('utf8'))
  else io.out(`${(text ?? buffer.toString('latin1')).split(/\r?\n/).map(printable).join('\n')}\n`)
  return 0
}

/** Prints an entry of `tests:`, which a mapping file can take. */
async function showTest(client: Client, id: string, io: Io): Promise<number> {
  const yaml = Buffer.from(await client.bytes('writeTest', { params: { id } })).toString('utf8')
  return print(io, { id, yaml }, () => yaml.split('\n').map(printable).join('\n'))
}

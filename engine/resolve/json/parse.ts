/** Owns reading long JSON without holding everybody else up: piece by piece, each by the platform's own parser. */

import { takeTurn } from '../../turn.ts'
import { type Container, type Segment, splitJson } from './split.ts'

/** Texts up to here are read at once, whatever they hold. */
const shortText = 64 * 1024
/** A piece takes a millisecond or two. */
const pieceLength = 16 * 1024
/** Characters that are looked at between two looks at the clock. */
const stride = 64 * 1024

/** Of one object. To tell the names of a hundred thousand takes 30 ms, every time that somebody asks. */
const mostKeys = 20_000

export class TooManyKeysError extends Error {
  override readonly name = 'TooManyKeysError'
}

/** Reads one piece, which is JSON: `JSON.parse`, or more. */
type ReadPiece = (json: string) => unknown

const parseWhole: ReadPiece = (json) => JSON.parse(json)

/**
 * As `JSON.parse`; a long text is read in turns.
 * @throws SyntaxError; of a long text TooManyKeysError, and RangeError for more than a thousand levels. Or rejects with it
 */
export function parseJson(text: string, read: ReadPiece = parseWhole): unknown | Promise<unknown> {
  return text.length <= shortText ? read(text) : parseInTurns(text, read, pieceLength)
}

/** `length` of a piece, in characters. */
export async function parseInTurns(text: string, read: ReadPiece, length: number): Promise<unknown> {
  const splitting = splitJson(text, length)
  while (!splitting.advance(stride)) await takeTurn()
  await takeTurn()
  const outermost = splitting.result()
  if (outermost === undefined) return read(text)
  readAround({ start: 0, end: text.length, long: outermost }, text, '', '', read)
  return readContainer(outermost, text, read)
}

/** Everything outside of the long ones goes through the reader, so that what passes here is JSON. */
async function readContainer(container: Container, text: string, read: ReadPiece): Promise<unknown> {
  const isList = text[container.open] === '['
  if (text[container.close] !== (isList ? ']' : '}')) throw new SyntaxError('two brackets do not pair')
  return isList ? readList(container, text, read) : readObject(container, text, read)
}

async function readList({ segments }: Container, text: string, read: ReadPiece): Promise<unknown[]> {
  const list: unknown[] = []
  for (const segment of segments) {
    if (segment.long === undefined) {
      const members = read(`[${text.slice(segment.start, segment.end)}]`) as unknown[]
      refuseEmpty(members.length, segments)
      for (const member of members) list.push(member)
    } else {
      readAround(segment, text, '[', ']', read)
      list.push(await readContainer(segment.long, text, read))
    }
    const turn = takeTurn()
    if (turn !== undefined) await turn
  }
  return list
}

async function readObject({ segments }: Container, text: string, read: ReadPiece): Promise<object> {
  const object: Record<string, unknown> = {}
  let count = 0
  for (const segment of segments) {
    if (segment.long === undefined) {
      const fields = read(`{${text.slice(segment.start, segment.end)}}`) as Record<string, unknown>
      const names = Object.keys(fields)
      refuseEmpty(names.length, segments)
      count += names.length
      if (count > mostKeys) throw new TooManyKeysError('an object has too many keys')
      for (const name of names) define(object, name, fields[name])
    } else {
      const [name] = Object.keys(readAround(segment, text, '{', '}', read) as object)
      define(object, name ?? '', await readContainer(segment.long, text, read))
    }
    const turn = takeTurn()
    if (turn !== undefined) await turn
  }
  return object
}

/** What stands before and behind a long member, an empty one in its place. */
function readAround(
  { start, end, long }: Segment,
  text: string,
  open: string,
  close: string,
  read: ReadPiece,
) {
  if (long === undefined) return undefined
  const empty = text[long.open] === '[' ? '[]' : '{}'
  return read(open + text.slice(start, long.open) + empty + text.slice(long.close + 1, end) + close)
}

/** A comma with nothing beside it. */
function refuseEmpty(members: number, segments: readonly Segment[]): void {
  if (members === 0 && segments.length > 1) throw new SyntaxError('a comma has nothing beside it')
}

/** As the parser does it: a `__proto__` is a field like any other. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

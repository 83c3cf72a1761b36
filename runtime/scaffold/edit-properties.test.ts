import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { parse } from 'yaml'
import { type Edit, editConfiguration } from './edit-configuration.ts'
import { NotEditable } from './parsed-text.ts'

/** Draws a number from 0 to below the given one. */
type Draw = (below: number) => number
type Value = unknown

const names = ['hooks', 'gmail', 'presets', 'gmail/push', 'on']
const scalars = ['pull', 'INBOX, work', '# none', 'a: b', '${X}', '', 'yes', '~', 7, true, null, 'two\nlines']

function drawPlain(draw: Draw, depth: number): Value {
  const kind = depth === 0 ? 0 : draw(4)
  if (kind === 1) return Array.from({ length: draw(3) }, () => drawPlain(draw, depth - 1))
  if (kind < 2) return scalars[draw(scalars.length)]
  const keys = names.filter(() => draw(2) === 0)
  return Object.fromEntries(keys.map((key) => [key, drawPlain(draw, depth - 1)]))
}

/** Writes configurations as people do: in lines or in braces, with odd spaces, and comments wherever they may be. */
function createWriter(draw: Draw) {
  let comments = 0
  const comment = () => `# c${comments++}: {[,`
  const aside = () => (draw(3) === 0 ? `${' '.repeat(1 + draw(3))}${comment()}` : '')
  const above = (indent: string) => (draw(4) === 0 ? `${indent}${comment()}\n` : draw(6) === 0 ? '\n' : '')
  const quoted = (text: string) => (draw(4) === 0 ? `'${text}'` : text)
  const spaces = () => ' '.repeat(1 + draw(2))

  function scalar(): string {
    return (
      ['pull', "'it''s # one'", '"a, \\"b\\""', '12', 'true', 'null', 'a b', 'x#y', '"${X}"'][draw(9)] ?? ''
    )
  }

  function inline(depth: number): string {
    const kind = depth === 0 ? 0 : draw(4)
    if (kind < 2) return scalar()
    const edge = draw(2) === 0 ? ' ' : ''
    const [open, close] = kind === 2 ? '[]' : '{}'
    const items =
      kind === 2
        ? Array.from({ length: draw(3) }, () => inline(depth - 1))
        : names.filter(() => draw(3) === 0).map((key) => `${quoted(key)}:${spaces()}${inline(depth - 1)}`)
    return `${open}${edge}${items.join(`,${edge}`)}${items.length > 0 && draw(4) === 0 ? ',' : ''}${edge}${close}`
  }

  function braces(depth: number, indent: string): string {
    const inner = `${indent}  `
    const keys = names.filter(() => draw(2) === 0)
    const rows = keys.map((key, index) => {
      const value = depth > 0 && draw(3) === 0 ? braces(depth - 1, inner) : inline(1)
      const comma = index < keys.length - 1 || draw(2) === 0 ? ',' : ''
      return `${above(inner)}${inner}${quoted(key)}: ${value}${comma}${aside()}\n`
    })
    return `{${aside()}\n${rows.join('')}${above(inner)}${indent}}`
  }

  function value(depth: number, indent: string): string {
    const inner = `${indent}${' '.repeat(1 + draw(4))}`
    const kind = draw(depth === 0 ? 3 : 8)
    if (kind === 0) return aside()
    if (kind < 3) return `${spaces()}${inline(2)}${aside()}`
    if (kind === 3) return ` |${aside()}\n${inner}text # none\n\n${inner}more`
    if (kind === 4) return ` ${braces(1, indent)}${aside()}`
    const rows =
      kind === 5
        ? Array.from({ length: 1 + draw(2) }, () => `${inner}-${spaces()}${inline(1)}${aside()}`)
        : names.filter(() => draw(2) === 0).map((key) => `${inner}${quoted(key)}:${value(depth - 1, inner)}`)
    return `${aside()}${rows.map((row) => `\n${above(inner)}${row}`.replace(/\n\n/, '\n')).join('')}`
  }

  return {
    inBraces: () => `${above('')}${braces(2, '')}${aside()}\n`,
    sections: () =>
      names
        .filter(() => draw(2) === 0)
        .map((name) => ({ name, text: `${above('')}${quoted(name)}:${value(3, '')}\n` })),
  }
}

function drawEdit(draw: Draw): Edit {
  const path = Array.from({ length: 1 + draw(3) }, () => names[draw(names.length)] ?? '')
  if (draw(3) > 0) return { set: path, to: drawPlain(draw, 2) }
  return { include: path, item: 'gmail', matches: (item) => item === 'gmail' }
}

/** The intended value, found without the code under test. Undefined: a name leads through something that is no map. */
function meant(before: Value, edit: Edit): Value {
  const root = structuredClone(before ?? {}) as Record<string, Value>
  const path = 'set' in edit ? edit.set : edit.include
  let map = root
  for (const name of path.slice(0, -1)) {
    const next = map[name] ?? {}
    if (typeof next !== 'object' || Array.isArray(next)) return undefined
    map[name] = next
    map = next as Record<string, Value>
  }
  const last = path.at(-1) ?? ''
  if ('set' in edit) map[last] = edit.to
  else {
    const list = map[last] ?? []
    if (!Array.isArray(list)) return undefined
    map[last] = list.some(edit.matches) ? list : [...list, edit.item]
  }
  return root
}

test('any configuration has the intended value and every comment after an edit, and a second edit changes no byte', () => {
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const draw: Draw = (below) => gen(fc.nat, { max: below - 1 })
      const writer = createWriter(draw)
      const isInBraces = draw(4) === 0
      const sections = isInBraces ? [] : writer.sections()
      const written = isInBraces ? writer.inBraces() : sections.map(({ text }) => text).join('')
      const lineFeed = draw(3) === 0 ? '\r\n' : '\n'
      const asIs = (text: string) => text.replaceAll('\n', lineFeed)
      const text = asIs(written)
      const edit = drawEdit(draw)
      const before = parse(text) ?? {}
      const wanted = meant(before, edit)
      if (wanted === undefined) {
        assert.throws(() => editConfiguration(text, [edit]), NotEditable)
        return
      }
      const edited = editConfiguration(text, [edit])
      assert.deepEqual(parse(edited), wanted)
      if (isDeepStrictEqual(before, wanted)) assert.equal(edited, text)
      assert.equal(editConfiguration(edited, [edit]), edited)
      assert.deepEqual(edited.match(/# c\d+: \{\[,/g)?.sort(), text.match(/# c\d+: \{\[,/g)?.sort())
      if (text.includes('\r\n')) assert.doesNotMatch(edited, /[^\r]\n/)
      const [first] = 'set' in edit ? edit.set : edit.include
      for (const section of sections) {
        if (section.name !== first) assert.ok(edited.includes(asIs(section.text).trimEnd()), edited)
      }
    }),
    { numRuns: 300 },
  )
})

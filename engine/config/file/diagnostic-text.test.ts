import assert from 'node:assert/strict'
import test from 'node:test'
import type { Diagnostic } from './diagnostic.ts'
import { formatDiagnostic, formatPlace } from './diagnostic-text.ts'

function diagnostic(text: string, column: number, extra: Partial<Diagnostic> = {}): Diagnostic {
  const place = { file: '/home/me/reveille.yaml', line: 4, column, text }
  return {
    severity: 'error',
    code: 'UNKNOWN_KEY',
    message: '`hooks.pth` is not a known key',
    place,
    ...extra,
  }
}

test('a diagnostic shows its place, its line with a caret, and its hint', () => {
  const text = formatDiagnostic(diagnostic('  pth: /hooks', 3, { hint: 'Did you mean `path`?' }), '/home/me')
  assert.deepEqual(text.split('\n'), [
    'reveille.yaml:4:3: error: `hooks.pth` is not a known key [UNKNOWN_KEY]',
    '  4 |   pth: /hooks',
    '    |   ^',
    '  hint: Did you mean `path`?',
  ])
})

test('a preset is shown by its name, unless its file is one that the user edits', () => {
  const at = (file: string) =>
    formatPlace({ file, calledFile: 'preset forge', line: 4, column: 3, text: '' }, '/home/me')
  assert.equal(at('/opt/reveille/mappings/forge.yaml'), 'preset forge:4:3')
  assert.equal(at('/home/me/node_modules/mappings/forge.yaml'), 'preset forge:4:3')
  assert.equal(at('/home/me/mappings/forge.yaml'), 'mappings/forge.yaml:4:3')
})

test('the caret is under its column after tabs, wide and combining characters', () => {
  const text = '\t"日本😀e\u0301": x'
  const [, shown, caret] = formatDiagnostic(diagnostic(text, text.indexOf('x') + 1), '/').split('\n')
  assert.equal(shown, `  4 | ${text}`)
  assert.equal(caret, `    | \t${' '.repeat(1 + 4 + 2 + 1 + 3)}^`)
})

test('a long line is cut around its caret', () => {
  const text = `${'a'.repeat(300)}X${'b'.repeat(300)}`
  const [, shown = '', caret = ''] = formatDiagnostic(diagnostic(text, 301), '/').split('\n')
  assert.equal(shown[caret.indexOf('^')], 'X')
  assert.ok(shown.length < 120)
})

test('the content of a file cannot control the terminal that shows it', () => {
  const text = formatDiagnostic(diagnostic('\x1b[2Jx\u202ey', 1, { hint: 'a\x07b' }), '/')
  for (const character of '\x1b\x07\u202e') assert.ok(!text.includes(character))
})

test('without a line or a place only the message is shown, and a file outside of the folder by its absolute path', () => {
  assert.match(formatDiagnostic(diagnostic('x', 1), '/home/you'), /^\/home\/me\/reveille\.yaml:4:1: error/)
  assert.equal(formatDiagnostic(diagnostic('', 1), '/home/me').split('\n').length, 1)
  assert.match(formatDiagnostic({ ...diagnostic('', 1), place: undefined }, '/'), /^error: `hooks\.pth`/)
})

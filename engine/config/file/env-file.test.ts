import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOfEnvFile, readEnvFile } from './env-file.ts'

const cases: readonly (readonly [text: string, value: string | undefined])[] = [
  ['A=p4ss#word', 'p4ss#word'],
  ['A=p4ss#word # the password', 'p4ss#word'],
  ['A=#ff8800', '#ff8800'],
  ['A= # nothing', ''],
  ['A=plain # a comment', 'plain'],
  ['export A=x#y', 'x#y'],
  ['A="x # y"', 'x # y'],
  ["A='x#y' # a comment", 'x#y'],
  ["A=it's#1", "it's#1"],
  ['A=a"b#c', 'a"b#c'],
  ['A=C:\\new#1', 'C:\\new#1'],
  ['B="first\nA=inner#x\nlast"\nA=1', '1'],
  ['# A=x#y', undefined],
  ['A=x#y\r\nB=1', 'x#y'],
]

for (const [text, value] of cases)
  test(`${JSON.stringify(text)} sets ${JSON.stringify(value)}`, () => {
    assert.equal(readEnvFile(text)['A'], value)
  })

test('lines of .env that set nothing, or keep a quote, are found', () => {
  const text = `# a comment\n\nA=1\nexport B="two\nlines: here"\nC: 3\nD="no end\nE='x' # comment\nF\nG=it's\n`
  const faults = faultsOfEnvFile(text).map(({ line, code }) => `${line} ${code}`)
  assert.deepEqual(faults, ['6 ENV_LINE', '7 ENV_QUOTE', '9 ENV_LINE'])
})

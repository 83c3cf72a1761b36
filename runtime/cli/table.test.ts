import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTable } from './table.ts'

const header = ['ID', 'TO', 'STATE', 'REASON']
const rows = [
  ['3f9a1c', 'conversation:19:general@thread.tacv2', 'parked', 'forbidden: the bot may not write there'],
  ['8dd47a', 'C1', 'delivered', ''],
]

test('the last column gets the width that is left', () => {
  assert.equal(
    formatTable(header, rows, 82),
    [
      'ID      TO                                    STATE      REASON',
      '3f9a1c  conversation:19:general@thread.tacv2  parked     forbidden: the bot may n…',
      '8dd47a  C1                                    delivered',
      '',
    ].join('\n'),
  )
})

test('where that is too little the widest of the others is narrowed, so that a state is always visible', () => {
  assert.equal(
    formatTable(header, rows, 64),
    [
      'ID      TO                   STATE      REASON',
      '3f9a1c  conversation:19:ge…  parked     forbidden: the bot may …',
      '8dd47a  C1                   delivered',
      '',
    ].join('\n'),
  )
})

test('without a width nothing is cut', () => {
  assert.match(formatTable(header, rows), /tacv2 {2}parked {5}forbidden: the bot may not write there$/m)
})

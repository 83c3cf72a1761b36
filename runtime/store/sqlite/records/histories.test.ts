import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionMessage } from '../../port.ts'
import { createHistories, createHistoryParser, type KeptTurn } from './histories.ts'

const turnOf = (turn: string): KeptTurn => ({ turn, messages: `["${turn}"]` })
const fail = () => assert.fail('it was read again')
const namesOf = (turns: readonly KeptTurn[]) => turns.map(({ turn }) => turn)

test('a history is read once, and follows what is appended and compacted', () => {
  const histories = createHistories(4)
  assert.deepEqual(
    histories.read('a', () => []),
    [],
  )
  histories.append('a', turnOf('0'))
  assert.deepEqual(namesOf(histories.read('a', () => ['0', '1', '2'].map(turnOf))), ['0', '1', '2'])
  histories.append('a', turnOf('3'))
  histories.append('b', turnOf('3'))
  assert.deepEqual(namesOf(histories.read('a', fail)), ['0', '1', '2', '3'])
  histories.append('a', turnOf('4'))
  assert.deepEqual(namesOf(histories.read('a', fail)), ['1', '2', '3', '4'])
  histories.compact('a', '2', turnOf('s'))
  assert.deepEqual(namesOf(histories.read('a', fail)), ['s', '3', '4'])
  histories.compact('a', 's', undefined)
  assert.deepEqual(namesOf(histories.read('a', fail)), ['3', '4'])
  histories.compact('a', '4', undefined)
  assert.deepEqual(
    histories.read('a', () => []),
    [],
  )
})

test('a history is read again after a compaction of what was not kept, and once all was forgotten', () => {
  const histories = createHistories(4)
  const readAgain = (session: string) => {
    let isRead = false
    histories.read(session, () => {
      isRead = true
      return [turnOf('1')]
    })
    return isRead
  }
  assert.deepEqual(['a', 'a'].map(readAgain), [true, false])
  histories.compact('a', '0', turnOf('s'))
  assert.deepEqual(['a', 'a'].map(readAgain), [true, false])
  histories.clear()
  assert.deepEqual(['a', 'a'].map(readAgain), [true, false])
})

test('the sessions that were used last are kept, as far as they fit', () => {
  const histories = createHistories(4, 10)
  const reads: string[] = []
  for (const session of ['a', 'b', 'a', 'c', 'a', 'b']) {
    histories.read(session, () => {
      reads.push(session)
      return [turnOf('1')]
    })
  }
  assert.deepEqual(reads, ['a', 'b', 'c', 'b'])
  histories.append('b', turnOf('longer than what fits'))
  for (const session of ['a', 'b']) histories.read(session, (name) => [turnOf(`${reads.push(name)}`)])
  assert.deepEqual(reads.slice(4), ['b'])
})

test('a turn is parsed once, and the newest messages are returned', () => {
  const parse = createHistoryParser(3)
  const textOf = (turn: string) =>
    JSON.stringify(
      ['question', 'answer'].map((text) => ({ role: 'user', text: `${text} ${turn}`, at: 1, turn })),
    )
  const messagesOf = (turns: string): SessionMessage[] => parse('a', [...turns].map(textOf))
  const textsOf = (messages: readonly SessionMessage[]) => messages.map(({ text }) => text)
  const before = messagesOf('12')
  assert.deepEqual(textsOf(before), ['answer 1', 'question 2', 'answer 2'])
  const after = messagesOf('s23')
  assert.deepEqual(textsOf(after), ['answer 2', 'question 3', 'answer 3'])
  assert.equal(after[0], before[2])
  assert.deepEqual(textsOf(messagesOf('2')), ['question 2', 'answer 2'])
  assert.deepEqual(parse('a', []), [])
  assert.deepEqual(createHistoryParser(0)('a', [textOf('1')]), [])
})

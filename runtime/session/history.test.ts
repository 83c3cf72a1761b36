import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionMessage } from '../store/port.ts'
import { exchange, recentHistory } from './history.ts'

const talk = (...texts: string[]): SessionMessage[] =>
  texts.flatMap((text, index) =>
    exchange({ id: `t${index}`, prompt: `q${text}`, askedAt: index, reply: `a${text}`, answeredAt: index }),
  )

const texts = (messages: readonly { text: string }[]) => messages.map((message) => message.text)

test('a short history is given whole, oldest first', () => {
  assert.deepEqual(texts(recentHistory(talk('1', '2'))), ['q1', 'a1', 'q2', 'a2'])
})

test('a long history loses its oldest turns', () => {
  assert.deepEqual(texts(recentHistory(talk('1', '2', '3'), 8)), ['q2', 'a2', 'q3', 'a3'])
})

test('an answer never stands without its question', () => {
  assert.deepEqual(texts(recentHistory(talk('1', '2', '3'), 7)), ['q3', 'a3'])
})

test('a last turn that is too long by itself leaves no history', () => {
  assert.deepEqual(recentHistory(talk('x'.repeat(50)), 20), [])
})

test('the runner is not shown which run wrote a message', () => {
  assert.deepEqual(recentHistory(talk('1'))[0], { role: 'user', text: 'q1', at: 0 })
})

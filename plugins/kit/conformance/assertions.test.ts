import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkedText } from './assertions.ts'

test('a `visibleText` written for stored messages is reported with the part that it was given', () => {
  const ofMessage = checkedText(({ message }: { text: string; message: string }) => message)
  const part = { text: 'Good morning' } as { text: string; message: string }
  assert.throws(
    () => ofMessage(part),
    /`visibleText` returns the text of a part that `render` returned: { text: 'Good morning' }/,
  )
  assert.equal(checkedText(({ text }: { text: string }) => text)(part), 'Good morning')
})
